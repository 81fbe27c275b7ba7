import assert from "node:assert/strict";
import { test } from "node:test";
import {
  feedbackFigure,
  mapFigure,
  recentRiskFigure,
  riskDomain,
  riskFigure,
  scatterFigure,
} from "../../src/localarc_service/page/static/charts.js";
import { featureNames } from "../../src/localarc_service/page/static/format.js";

const SIZE = { width: 500, height: 240 };
const point = (rounds, risk) => ({
  rounds,
  at: 1.79e9 + rounds,
  risk,
  threshold: 0.5 + rounds / 10,
  size: null,
  bound: 0.3,
  observed: 0.05,
  pending: 4,
  late: 2,
  expired: 1,
});
const history = {
  seq: 3,
  target: 0.1,
  span: [1.79e9, 1.79e9 + 5],
  points: [point(1, 0), point(2, 0.5), point(3, 0.125)],
};
const windowed = [0, 0.5, 0.25].map((risk) => ({ risk, rounds: 2 }));
const alarm = { value: 1.79e9 + 2, label: "broken: city", style: "broken" };
const names = featureNames(null);

test("every figure states its current value", () => {
  assert.equal(
    riskFigure(history, 1).label,
    "Running risk after 3 rounds: 0.1250, target 0.1, bound for this run ±0.05.",
  );
  assert.match(scatterFigure(history, "threshold", "Threshold").label, /^Threshold at round 3: 0.8, mean/);
  assert.equal(feedbackFigure(history).label, "Feedback after 3 rounds: 4 pending, 2 late, 1 expired.");
});

test("every point of every figure can be described and drawn", () => {
  const map = {
    stream: "s",
    seq: 1,
    rounds: 3,
    first: 0,
    second: 1,
    first_values: [0, 1],
    second_values: [0, 1],
    others: [0.5, 0.5],
    thresholds: [
      [0, 1],
      [2, 3],
    ],
  };
  const curve = { ...map, second: null, second_values: [], thresholds: [[0, 1]] };
  const figures = [
    riskFigure(history, 1),
    scatterFigure(history, "size", "Set size"),
    feedbackFigure(history),
    recentRiskFigure(history, windowed, 0.02, [alarm]),
    mapFigure(map, names),
    mapFigure(curve, names),
  ];
  for (const figure of figures) {
    const { nodes, targets } = figure.plot(SIZE);
    assert.ok(!JSON.stringify(nodes).match(/NaN|null|Infinity/));
    for (let index = 0; index < targets.count; index += 1) assert.ok(figure.describe(index).length > 1);
  }
});

test("the range of the risk chart contains the target", () => {
  const [low, high] = riskDomain({ ...history, points: [point(1, 0.4), point(2, 0.45)] });
  assert.ok(low <= 0.1 && high >= 0.45);
});

test("the recent risk is stated with its limit and with the moment of the alarm", () => {
  const { label } = recentRiskFigure(history, windowed, 0.02, [alarm]);
  assert.match(label, /^Mean loss of the last 2 rounds at .*: 0.2500, target 0.1, alarm above 0.12\./);
  assert.match(label, /At .*: broken: city\.$/);
});

test("every point is named by its time and its round", () => {
  const time = new Date((1.79e9 + 2) * 1000).toLocaleTimeString("en-GB");
  for (const figure of [riskFigure(history, 1), recentRiskFigure(history, windowed, 0.02, [])])
    assert.match(figure.describe(1)[0], new RegExp(`${time} · round 2$`));
});

test("a map names the cell by its features", () => {
  const map = {
    stream: "s",
    seq: 1,
    rounds: 3,
    first: 0,
    second: 2,
    first_values: [0, 1],
    second_values: [5, 6],
    others: [0, 0, 0],
    thresholds: [
      [0.1, 0.2],
      [0.3, 0.4],
    ],
  };
  assert.deepEqual(mapFigure(map, names).describe(2), ["threshold 0.3", "x[0] = 0", "x[2] = 6"]);
  const named = featureNames(["hour", "day", "wind"]);
  assert.deepEqual(mapFigure(map, named).describe(2), ["threshold 0.3", "hour = 0", "wind = 6"]);
});
