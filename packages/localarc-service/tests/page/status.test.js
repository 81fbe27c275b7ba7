import assert from "node:assert/strict";
import { test } from "node:test";
import { badgeOf, describeSince, headlineOf } from "../../src/localarc_service/page/static/status.js";

const STATUSES = ["ok", "drifting", "broken", "recovered", "stale"];
const VERDICTS = ["kept", "cautious", "not kept", "too early", "inconsistent"];
const stream = (status, verdict, consistent = true) => ({
  consistent,
  health: { status, why: "because", since: 100 },
  verdict: { state: verdict, text: "verdict" },
});

test("nothing looks ok beside a promise that is broken", () => {
  for (const status of STATUSES)
    for (const verdict of VERDICTS)
      for (const consistent of [true, false]) {
        const isKept = consistent && status === "ok" && (verdict === "kept" || verdict === "cautious");
        assert.equal(badgeOf(stream(status, verdict, consistent)).tone === "ok", isKept);
      }
});

test("a badge is one word, and a failed check is worst", () => {
  assert.deepEqual(badgeOf(stream("ok", "kept", false)), { tone: "broken", word: "check failed" });
  assert.deepEqual(badgeOf(stream("stale", "not kept")), { tone: "stale", word: "stale" });
  assert.deepEqual(badgeOf(stream("ok", "not kept")), { tone: "drifting", word: "not kept" });
  assert.deepEqual(badgeOf(stream("ok", "too early")), { tone: "unknown", word: "too early" });
});

test("the headline of an alarm has the risk, the target and the group", () => {
  const alarm = (status, group) => {
    const { health, ...rest } = stream(status, "kept");
    const numbers = { risk: 0.2345, recent_risk: 0.3, target: 0.1, group };
    return headlineOf({ ...rest, health: { ...health, ...numbers } });
  };
  assert.equal(alarm("broken", "city"), "The risk in city is 0.234, target 0.1.");
  assert.equal(alarm("drifting", null), "The recent risk is 0.3, target 0.1.");
  assert.equal(alarm("stale", "city"), "No feedback in city.");
  assert.equal(alarm("recovered", "city"), "Was broken in city; the risk is back near its target.");
  assert.equal(alarm("ok", null), "verdict");
  assert.match(headlineOf(stream("ok", "inconsistent", false)), /do not rely on/);
});

test("an alarm says since when", () => {
  assert.match(describeSince({ status: "broken", since: 100 }, 700), /^for 10 min, since .*:40$/);
  assert.equal(describeSince({ status: "ok", since: 100 }, 700), "");
  assert.equal(describeSince({ status: "stale", since: null }, 700), "");
});
