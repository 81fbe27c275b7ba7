import assert from "node:assert/strict";
import { test } from "node:test";
import { areaPath, linePath, stepPath } from "../../src/localarc_service/page/static/svg.js";

test("a line is interrupted where a value is missing", () => {
  const points = [
    [0, 1],
    [1, 2],
    [2, null],
    [3, 4.04],
  ];
  assert.equal(linePath(points), "M0,1L1,2M3,4");
});

test("a staircase holds each value until the next point", () => {
  assert.equal(
    stepPath([
      [0, 1],
      [2, 5],
    ]),
    "M0,1L2,1L2,5",
  );
});

test("an area is closed around each run of values", () => {
  const upper = [
    [0, 1],
    [1, 1],
    [2, null],
    [3, 1],
  ];
  const lower = [
    [0, 9],
    [1, 9],
    [2, 9],
    [3, 9],
  ];
  assert.equal(areaPath(upper, lower), "M0,1L1,1L1,9L0,9ZM3,1L3,9Z");
});
