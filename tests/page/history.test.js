import assert from "node:assert/strict";
import { test } from "node:test";
import {
  extendHistory,
  MAX_POINTS,
  readHistory,
  recentHistory,
  smooth,
} from "../../src/localarc/service/page/static/history.js";

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

test("the recent part of a history ends with its last point", () => {
  let history = readHistory({ ...response, points: [] });
  for (let rounds = 1; rounds <= 100; rounds += 1) history = extendHistory(history, event(rounds));
  const recent = recentHistory(history, 0.25).points.map((point) => point.rounds);
  assert.deepEqual([recent.length, recent[0], recent.at(-1)], [25, 76, 100]);
  assert.equal(recentHistory(history, 1).points.length, 100);
});

test("an audit adds no point: nothing was learned from the loss of an answer", () => {
  const before = readHistory(response);
  const after = extendHistory(before, event(2, { kind: "audited" }));
  assert.deepEqual(after, { ...before, seq: 12 });
});
