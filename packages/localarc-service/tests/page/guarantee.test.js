import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../src/localarc_service/page/static/guarantee.js";

const bound = { name: "theorem A", value: 0.02, holds: true, assumes: [], unmet: [], side: "both" };
const summary = (certificate = {}, more = {}) => ({
  stream: "s",
  rounds: 10,
  consistent: true,
  target: 0.1,
  config: { method: "auto", loss_bound: 1 },
  certificate: {
    consistent: true,
    consistency_gap: 0,
    replay_differs: 0,
    max_pending: 0,
    bound,
    bounds: [bound],
    ...certificate,
  },
  ...more,
});

test("a consistent stream states its bound", () => {
  const { passed, text } = assess(summary());
  assert.ok(passed);
  assert.match(text, /For any input sequence, the risk stays within 0.02 of the target 0.1 \(theorem A\)/);
});

test("a one-sided bound is not stated as one on both sides", () => {
  const { text } = assess(summary({ bound: { ...bound, side: "above" } }));
  assert.match(text, /the risk stays at most 0.02 above the target 0.1/);
  assert.doesNotMatch(text, /within/);
});

test("an inconsistent stream fails", () => {
  const { passed, text } = assess(summary({ consistent: false, consistency_gap: 1 }));
  assert.ok(!passed);
  assert.match(text, /difference 1\)/);
});

test("thresholds that differ on replay fail", () => {
  const { passed, text } = assess(summary({ replay_differs: 3 }));
  assert.ok(!passed);
  assert.match(text, /Replay produced 3 thresholds that differ from those originally returned/);
});

test("a stopped stream fails", () => {
  assert.ok(!assess(summary({}, { consistent: false })).passed);
});

test("a bound that excludes nothing is called uninformative", () => {
  assert.match(assess(summary({ bound: { ...bound, value: 0.9 } })).text, /not informative yet/);
});

test("a bound whose assumptions are not met is not claimed", () => {
  const unmet = { ...bound, holds: false, unmet: ["the rate is constant"] };
  assert.match(assess(summary({ bound: unmet })).text, /No bound .* \(the rate is constant\)/);
});

test("pending predictions that the bound accounts for are named", () => {
  assert.match(assess(summary({ max_pending: 1200 })).text, /up to 1,200 pending predictions/);
});
