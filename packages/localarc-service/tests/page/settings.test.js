import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSettings, isLocal, lossBound } from "../../src/localarc_service/page/static/settings.js";

const config = {
  method: "arc",
  features: 0,
  limits: [null, null],
  promise: "both",
  timeout: null,
  default_loss: null,
};

test("each method is named with what its threshold depends on", () => {
  const text = (more) =>
    describeSettings({ config: { ...config, ...more }, predictions: 1200, memory: "none" });
  assert.equal(text({}), "ARC, one threshold for all inputs · 1,200 predictions");
  assert.match(text({ method: "gate", features: 1 }), /^Gate, answer or escalate · 1,200/);
  assert.match(text({ method: "mondrian" }), /^Mondrian, one threshold per group · 1,200/);
  assert.match(
    text({ method: "auto", features: 1 }),
    /^AutoLARC, a threshold for every place and group · 1 feature ·/,
  );
});

test("limits and a promise from above are settings of AutoLARC", () => {
  const auto = { ...config, method: "auto", limits: [0, 2.5], promise: "at most" };
  const text = describeSettings({ config: auto, predictions: 0, memory: "Nodes(x)" });
  assert.match(text, /group, at least 0, at most 2.5, risk guaranteed from above · 0 predictions/);
});

test("thresholds depend on features if the method says so and there are any", () => {
  const local = (method, features) => isLocal({ method, features });
  assert.deepEqual(
    [local("larc", 2), local("auto", 1), local("auto", 0), local("arc", 2), local("mondrian", 2)],
    [true, true, false, false, false],
  );
});

test("a kernel is described with its length scale", () => {
  const text = (kind) =>
    describeSettings({
      config: { ...config, method: "larc", kernel: { kind, length_scale: [0.5, 2] }, features: 2 },
      predictions: 0,
      memory: "Lattice(x)",
    });
  assert.equal(
    text("matern32"),
    "L-ARC, Matérn 3/2 kernel with length scale 0.5, 2 · 2 features · Lattice memory · 0 predictions",
  );
  assert.match(text("rational-quadratic"), /^L-ARC, rational quadratic kernel with/);
});

test("a timeout says what happens to the prediction", () => {
  const summary = (more) => ({ config: { ...config, timeout: 60, ...more }, predictions: 0, memory: "none" });
  assert.match(describeSettings(summary({})), /without feedback for 60 s are dropped/);
  assert.match(describeSettings(summary({ default_loss: 1 })), /count as a loss of 1/);
});

test("the largest loss of a gate is that of a wrong answer", () => {
  assert.deepEqual([lossBound({ method: "gate" }), lossBound({ method: "arc", loss_bound: 2 })], [1, 2]);
});

test("retention is shown", () => {
  const text = describeSettings({ config: { ...config, retention: 3600 }, predictions: 2, memory: "none" });
  assert.match(text, / · records are kept for .+ · 2 predictions$/);
});
