import assert from "node:assert/strict";
import { test } from "node:test";
import {
  extendHistory,
  MAX_POINTS,
  readHistory,
  smooth,
  windowedRisk,
} from "../../src/localarc_service/page/static/history.js";

const event = (rounds, more = {}) => ({
  kind: "feedback",
  seq: 10 + rounds,
  at: 0,
  rounds,
  risk: 0.25,
  pending: 1,
  late: 0,
  expired: 0,
  id: "p",
  loss: 1,
  threshold: 0.7,
  size: 2,
  ...more,
});
const response = {
  stream: "s",
  seq: 5,
  target: 0.1,
  stride: 1,
  points: [[1, 1.7e9, 1, 0.8, null, 0.9, 0.4, 3, 2, 1]],
};

test("a point of the response gets its names", () => {
  assert.deepEqual(readHistory(response).points, [
    {
      rounds: 1,
      at: 1.7e9,
      risk: 1,
      threshold: 0.8,
      size: null,
      bound: 0.9,
      observed: 0.4,
      pending: 3,
      late: 2,
      expired: 1,
    },
  ]);
});

test("feedback adds a point with the bounds known so far", () => {
  const { seq, points } = extendHistory(readHistory(response), event(2));
  assert.equal(seq, 12);
  assert.equal(points.length, 2);
  assert.deepEqual([points[1].rounds, points[1].threshold, points[1].bound], [2, 0.7, 0.9]);
});

test("an event that is already in the history adds nothing", () => {
  assert.equal(extendHistory(readHistory(response), event(1)).points.length, 1);
});

test("an expired prediction adds a point only if the stream learned from it", () => {
  const history = readHistory(response);
  const expired = { kind: "expired", threshold: undefined, size: undefined };
  assert.equal(extendHistory(history, event(2, { ...expired, loss: null })).points.length, 1);
  const [, point] = extendHistory(history, event(2, { ...expired, loss: 1 })).points;
  assert.equal(point.threshold, null);
});

test("the history given is left as it was", () => {
  const history = readHistory(response);
  extendHistory(history, event(2));
  assert.equal(history.points.length, 1);
});

test("a long history is thinned and keeps its last point", () => {
  let history = readHistory({ ...response, points: [] });
  for (let rounds = 1; rounds <= MAX_POINTS + 1; rounds += 1) history = extendHistory(history, event(rounds));
  assert.equal(history.points.length, MAX_POINTS / 2);
  history = extendHistory(history, event(MAX_POINTS + 2));
  assert.equal(history.points.at(-1).rounds, MAX_POINTS + 2);
});

test("smoothing averages neighbours and passes over missing values", () => {
  assert.deepEqual(smooth([1, null, 3, 8], 1), [1, 2, 5.5, 5.5]);
  assert.deepEqual(smooth([null], 1), [null]);
});

test("a clock that was set back does not fold the time axis", () => {
  const at = (rounds, time) => [rounds, time, 0, 0, null, null, null, 0, 0, 0];
  const history = readHistory({ ...response, points: [at(1, 100), at(2, 40)] });
  const { points } = extendHistory(history, event(3, { at: 50 }));
  assert.deepEqual(
    points.map((point) => point.at),
    [100, 100, 100],
  );
});

/** Points every so many rounds, with the running mean of the losses. */
function pointsOf(losses, stride = 1) {
  const sums = losses.map((_, index) => losses.slice(0, index + 1).reduce((sum, loss) => sum + loss, 0));
  return sums
    .map((sum, index) => ({ rounds: index + 1, risk: sum / (index + 1) }))
    .filter(({ rounds }) => rounds % stride === 0);
}

test("the windowed risk is the mean of the last losses", () => {
  const losses = [1, 0, 0, 1, 1, 0, 1, 1];
  const found = windowedRisk(pointsOf(losses), 3);
  losses.forEach((_, index) => {
    const last = losses.slice(Math.max(0, index - 2), index + 1);
    const mean = last.reduce((sum, loss) => sum + loss, 0) / last.length;
    assert.ok(Math.abs(found[index].risk - mean) < 1e-12);
    assert.equal(found[index].rounds, last.length);
  });
});

test("where points are further apart than the window, it is as wide as their distance", () => {
  const losses = Array.from({ length: 16 }, (_, index) => Number(index >= 8));
  const found = windowedRisk(pointsOf(losses, 4), 2);
  assert.deepEqual(found, [
    { risk: null, rounds: 0 }, // a history that starts in the middle looks the same
    { risk: 0, rounds: 4 },
    { risk: 1, rounds: 4 },
    { risk: 1, rounds: 4 },
  ]);
});

test("a history that starts in the middle has no windowed risk there", () => {
  const losses = Array.from({ length: 110 }, (_, index) => Number(index < 100));
  const found = windowedRisk(pointsOf(losses).slice(99), 20);
  assert.equal(found[0].risk, null);
  assert.ok(found.slice(1).every(({ risk }) => Math.abs(risk) < 1e-9));
});

test("an audit adds no point: nothing was learned from the loss of an answer", () => {
  const before = readHistory(response);
  const after = extendHistory(before, event(2, { kind: "audited" }));
  assert.deepEqual(after, { ...before, seq: 12 });
});
