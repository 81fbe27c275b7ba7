import assert from "node:assert/strict";
import { test } from "node:test";
import {
  colour,
  extent,
  linear,
  nearest,
  pad,
  tickLabels,
  ticks,
} from "../../src/localarc_service/page/static/scale.js";

test("the extent passes over missing values", () => {
  assert.deepEqual(extent([3, null, -1]), [-1, 3]);
  assert.deepEqual(extent([null]), [0, 1]);
});

test("a padded interval is never empty", () => {
  const [low, high] = pad([2, 2]);
  assert.ok(low < 2 && high > 2);
  assert.deepEqual(pad([0, 10], 0.1), [-1, 11]);
});

test("a linear scale maps end to end", () => {
  const scale = linear([0, 10], [100, 0]);
  assert.deepEqual([scale(0), scale(5), scale(10)], [100, 50, 0]);
  assert.equal(linear([1, 1], [0, 50])(1), 0);
});

test("ticks are round numbers inside the interval", () => {
  assert.deepEqual(ticks([0.074, 0.131], 6), [0.08, 0.09, 0.1, 0.11, 0.12, 0.13]);
  assert.deepEqual(ticks([0, 1000], 4), [0, 500, 1000]);
  assert.deepEqual(ticks([-1, 1], 4), [-1, -0.5, 0, 0.5, 1]);
});

test("ticks of counts are integers", () => {
  assert.deepEqual(ticks([0, 1.08], 4, true), [0, 1]);
  for (const high of [1, 2, 3, 7, 50, 12345]) {
    assert.ok(ticks([0, high], 4, true).every(Number.isInteger));
  }
});

test("an empty interval has one tick", () => {
  assert.deepEqual(ticks([5, 5], 4), [5]);
});

test("tick labels share their number of decimals", () => {
  assert.deepEqual(tickLabels([0, 0.05, 0.1]), ["0.00", "0.05", "0.10"]);
  assert.deepEqual(tickLabels([0, 1000]), ["0", "1,000"]);
  assert.deepEqual(tickLabels([0, 5e9]), ["0", "5.0e+9"]);
});

test("the nearest value is found at the ends and between", () => {
  const values = [1, 4, 10];
  assert.deepEqual(
    [-5, 2, 3, 7.5, 99].map((wanted) => nearest(values, wanted)),
    [0, 0, 1, 2, 2],
  );
});

test("colours run from dark to light and stop at the ends", () => {
  assert.equal(colour(0), "rgb(68,1,84)");
  assert.equal(colour(1), "rgb(253,231,37)");
  assert.equal(colour(-3), colour(0));
  assert.equal(colour(9), colour(1));
});
