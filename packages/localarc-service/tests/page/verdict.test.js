import assert from "node:assert/strict";
import { test } from "node:test";
import { describeTightest } from "../../src/localarc_service/page/static/verdict.js";

const tightest = {
  name: "observed (CERT)",
  value: 0.0214,
  holds: true,
  assumes: [],
  unmet: [],
  side: "both",
};
const summary = (certificate = {}) => ({
  target: 0.1,
  config: { method: "auto", loss_bound: 1 },
  certificate: { consistent: true, tightest, ...certificate },
});

test("the tightest bound is stated", () => {
  const text = "The tightest bound: within 0.0214 of the target 0.1 (observed (CERT)).";
  assert.equal(describeTightest(summary()), text);
});

test("a one-sided bound says on which side it is", () => {
  const text = (side) => describeTightest(summary({ tightest: { ...tightest, side } }));
  assert.match(text("above"), /: at most 0.0214 above the target 0.1 \(/);
  assert.match(text("below"), /: at most 0.0214 below the target 0.1 \(/);
});

test("no bound is stated where none holds", () => {
  assert.equal(describeTightest(summary({ tightest: null })), "");
  assert.equal(describeTightest(summary({ consistent: false })), "");
});

test("a bound that excludes nothing is called uninformative", () => {
  assert.equal(
    describeTightest(summary({ tightest: { ...tightest, value: 0.9 } })),
    "No bound is informative yet.",
  );
});
