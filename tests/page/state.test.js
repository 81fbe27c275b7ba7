import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSince, reasonOf, stateOf } from "../../src/localarc/service/page/static/state.js";

const STATES = ["ok", "drifting", "broken", "stale"];
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

test("an alarm is explained by its reason, everything else by the verdict", () => {
  assert.equal(reasonOf(stream("broken", "kept")), "because");
  const { health, ...rest } = stream("broken", "kept");
  assert.equal(reasonOf({ ...rest, health: { ...health, group: "city" } }), "city: because");
  assert.equal(reasonOf(stream("ok", "kept")), "verdict");
  assert.match(reasonOf(stream("ok", "inconsistent", false)), /do not rely on/);
});

test("an alarm says since when", () => {
  assert.match(describeSince({ state: "broken", since: 100 }, 700), /^for 10 min, since .*:40$/);
  assert.equal(describeSince({ state: "ok", since: 100 }, 700), "");
  assert.equal(describeSince({ state: "stale", since: null }, 700), "");
});
