import assert from "node:assert/strict";
import { test } from "node:test";
import {
  feedbackFigure,
  groupFigure,
  mapFigure,
  riskDomain,
  riskFigure,
  scatterFigure,
} from "../../src/localarc/service/page/static/charts.js";

const SIZE = { width: 500, height: 240 };
const point = (rounds, risk) => ({
  rounds,
  risk,
  threshold: 0.5 + rounds / 10,
  size: null,
  bound: 0.3,
  observed: 0.05,
  pending: 4,
  late: 2,
  expired: 1,
});
const history = { seq: 3, target: 0.1, points: [point(1, 0), point(2, 0.5), point(3, 0.125)] };

test("every figure states its current value", () => {
  assert.equal(
    riskFigure(history, 1).label,
    "Running risk after 3 rounds: 0.1250, target 0.1, bound for this run ±0.05.",
  );
  assert.match(scatterFigure(history, "threshold", "Threshold").label, /^Threshold at round 3: 0.8, mean/);
  assert.equal(feedbackFigure(history).label, "Feedback after 3 rounds: 4 pending, 2 late, 1 expired.");
});

test("every point of every figure can be described and drawn", () => {
  const groups = [{ group: "a", rounds: 4, risk: 0.2 }];
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
    groupFigure(groups, 0.1, 1),
    mapFigure(map),
    mapFigure(curve),
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

test("a group shows what is guaranteed for it, where something is", () => {
  const group = { group: "a", rounds: 4, risk: 0.2, above: null, below: null };
  const lines = (more) => groupFigure([{ ...group, ...more }], 0.1, 1).describe(0);
  assert.equal(lines({}).length, 3);
  assert.equal(lines({ above: 0.3 }).at(-1), "guaranteed: at most 0.3 above the target");
  assert.equal(
    lines({ above: 0.3, below: 0.05 }).at(-1),
    "guaranteed: at most 0.3 above and 0.05 below the target",
  );
});

test("groups are sorted by risk and the highest is named", () => {
  const groups = [0.05, 0.3, 0.2].map((risk, index) => ({ group: `g${index}`, rounds: 10, risk }));
  const figure = groupFigure(groups, 0.1, 1);
  assert.equal(figure.label, "Risk of 3 groups, 2 above the target 0.1. Highest: g1, 0.3000.");
  assert.deepEqual(
    [0, 1, 2].map((index) => figure.describe(index)[0]),
    ["g1", "g2", "g0"],
  );
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
  assert.deepEqual(mapFigure(map).describe(2), ["threshold 0.3", "x[0] = 0", "x[2] = 6"]);
});
