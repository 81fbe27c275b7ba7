import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSince, headlineOf, stateOf } from "../../src/localarc_service/page/static/state.js";

const STATES = ["ok", "drifting", "broken", "recovered", "stale"];
const VERDICTS = ["kept", "cautious", "not kept", "too early", "inconsistent"];
const stream = (state, verdict, healthy = true) => ({
  healthy,
  health: { state, why: "because", since: 100 },
  verdict: { state: verdict, text: "verdict" },
});

test("nothing looks ok beside a promise that is broken", () => {
  for (const state of STATES)
    for (const verdict of VERDICTS)
      for (const healthy of [true, false]) {
        const isKept = healthy && state === "ok" && (verdict === "kept" || verdict === "cautious");
        assert.equal(stateOf(stream(state, verdict, healthy)).tone === "ok", isKept);
      }
});

test("a state is one word, and a failed check is worst", () => {
  assert.deepEqual(stateOf(stream("ok", "kept", false)), { tone: "broken", word: "check failed" });
  assert.deepEqual(stateOf(stream("stale", "not kept")), { tone: "stale", word: "stale" });
  assert.deepEqual(stateOf(stream("ok", "not kept")), { tone: "drifting", word: "not kept" });
  assert.deepEqual(stateOf(stream("ok", "too early")), { tone: "unknown", word: "too early" });
});

test("the headline of an alarm has the risk, the target and the group", () => {
  const alarm = (state, group) => {
    const { health, ...rest } = stream(state, "kept");
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
  assert.match(describeSince({ state: "broken", since: 100 }, 700), /^for 10 min, since .*:40$/);
  assert.equal(describeSince({ state: "ok", since: 100 }, 700), "");
  assert.equal(describeSince({ state: "stale", since: null }, 700), "");
});
