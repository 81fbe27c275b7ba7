import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSettings } from "../../src/localarc/service/page/static/settings.js";

const config = { kernel: null, features: 0, timeout: null, default_loss: null };

test("without a kernel there is one threshold", () => {
  const text = describeSettings({ config, predictions: 1200, memory: "none" });
  assert.equal(text, "ARC, one threshold for all inputs · 1,200 predictions");
});

test("a kernel is described with its length scale", () => {
  const kernel = { kind: "matern32", length_scale: [0.5, 2] };
  const text = describeSettings({
    config: { ...config, kernel, features: 2 },
    predictions: 0,
    memory: "Lattice(x)",
  });
  assert.equal(
    text,
    "L-ARC, Matérn 3/2 kernel with length scale 0.5, 2 · 2 features · Lattice memory · 0 predictions",
  );
});

test("a timeout says what happens to the prediction", () => {
  const summary = (more) => ({ config: { ...config, timeout: 60, ...more }, predictions: 0, memory: "none" });
  assert.match(describeSettings(summary({})), /without feedback for 60 s are dropped/);
  assert.match(describeSettings(summary({ default_loss: 1 })), /count as a loss of 1/);
});
