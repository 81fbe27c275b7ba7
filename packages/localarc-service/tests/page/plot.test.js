import assert from "node:assert/strict";
import { test } from "node:test";
import { gridPlot, xyPlot } from "../../src/localarc_service/page/static/plot.js";

const SIZE = { width: 400, height: 200 };

/** All nodes of a plot with this class. */
function find(nodes, style) {
  return nodes.flatMap((item) =>
    typeof item === "string"
      ? []
      : [...(item.attributes.class === style ? [item] : []), ...find(item.children, style)],
  );
}

const panel = (title) => ({
  title,
  domain: [0, 1],
  layers: [{ kind: "line", style: "risk", values: [0, 0.5, 1] }],
});
const rounds = { title: "rounds", values: [1, 2, 3] };

test("a line goes from the lower left to the upper right of its panel", () => {
  const { nodes } = xyPlot(SIZE, rounds, [panel("loss")]);
  const [first, , last] = find(nodes, "risk")[0]
    .attributes.d.slice(1)
    .split("L")
    .map((pair) => pair.split(",").map(Number));
  assert.ok(first[0] < last[0] && first[1] > last[1]);
  assert.ok(last[0] <= SIZE.width && last[1] >= 0);
});

test("panels do not overlap", () => {
  const { nodes } = xyPlot(SIZE, rounds, [panel("one"), panel("two")]);
  const [upper, lower] = nodes.filter(({ tag }) => tag === "svg").map(({ attributes }) => attributes);
  assert.ok(upper.y + upper.height < lower.y);
  assert.ok(lower.y + lower.height < SIZE.height);
});

test("even a low panel has two ticks", () => {
  for (const high of [1.08, 19, 140, 1640]) {
    const domain = [0, high];
    const { nodes } = xyPlot({ width: 400, height: 180 }, rounds, [
      { ...panel("a"), domain, integers: true },
      panel("b"),
    ]);
    const [{ attributes: upper }] = nodes.filter(({ tag }) => tag === "svg");
    assert.ok(
      find(nodes, "grid").filter(({ attributes }) => attributes.y1 <= upper.y + upper.height).length >= 2,
    );
  }
});

test("a point is found at its own position", () => {
  const { targets } = xyPlot(SIZE, rounds, [panel("loss")]);
  for (let index = 0; index < targets.count; index += 1) {
    assert.equal(targets.find(targets.position(index).x, 0), index);
  }
});

test("arrow keys move to the neighbour and stop at the ends", () => {
  const { targets } = xyPlot(SIZE, rounds, [panel("loss")]);
  assert.equal(targets.move(1, "ArrowRight"), 2);
  assert.equal(targets.move(2, "ArrowRight"), 2);
  assert.equal(targets.move(0, "ArrowLeft"), 0);
});

test("a moment is marked in the plot, with its label on the side that has room", () => {
  const mark = (value) => ({ value, label: "broken", style: "broken" });
  const { nodes } = xyPlot(SIZE, { ...rounds, marks: [mark(1.1), mark(2.9), mark(7)] }, [panel("loss")]);
  const labels = find(nodes, "mark broken").filter(({ tag }) => tag === "text");
  assert.deepEqual(
    labels.map(({ attributes }) => attributes["text-anchor"]),
    ["start", "end"],
  ); // and the one outside is left out
});

test("an axis has the domain and the ticks that it asks for", () => {
  const axis = { ...rounds, domain: [0, 4], ticks: () => [{ value: 2, label: "03:00" }] };
  const { nodes, targets } = xyPlot(SIZE, axis, [panel("loss")]);
  assert.deepEqual(
    find(nodes, "x-tick").map(({ children }) => children[0]),
    ["03:00"],
  );
  assert.ok(targets.position(2).x < SIZE.width * 0.85); // 3 of 4
});

test("a long title is cut and keeps its full text", () => {
  const title = "a feature with a name that is far too long for any axis of any chart at all";
  const axis = { title, values: [0, 1] };
  const { nodes } = gridPlot(SIZE, axis, axis, [
    [0, 1],
    [2, 3],
  ]);
  for (const style of ["axis-title", "x-title"]) {
    const [text] = find(nodes, style);
    assert.ok(text.children[0].endsWith("…"));
    assert.ok(text.children[0].length * 7 <= SIZE.width);
    assert.deepEqual(text.children[1].children, [title]);
  }
});

test("a grid has one cell per value, with the first row at the bottom", () => {
  const axis = (title) => ({ title, values: [0, 1] });
  const { nodes, targets } = gridPlot(SIZE, axis("x[0]"), axis("x[1]"), [
    [0, 1],
    [2, 3],
  ]);
  const cells = find(nodes, "cells")[0].children;
  assert.equal(cells.length, 4);
  assert.equal(cells[3].attributes.fill, "rgb(253,231,37)");
  assert.ok(cells[0].attributes.y > cells[2].attributes.y);
  assert.equal(targets.move(0, "ArrowUp"), 2);
  assert.equal(targets.move(2, "ArrowRight"), 3);
  const { x, y } = targets.position(3);
  assert.equal(targets.find(x, y), 3);
});
