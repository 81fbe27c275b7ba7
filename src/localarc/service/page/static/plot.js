// Plots as SVG nodes: a size and numbers in, nodes and what to say about each point out.

import { colour, extent, linear, nearest, tickLabels, ticks } from "./scale.js";
import { areaPath, linePath, node, stepPath } from "./svg.js";

/** @import { Interval } from "./scale.js" */
/** @import { PathPoint, SvgNode } from "./svg.js" */

/** @typedef {{width: number, height: number}} Size */
/** @typedef {{left: number, right: number, top: number, bottom: number}} Box */

/**
 * What a reader can point at, by index.
 * @typedef {object} Targets
 * @property {number} count
 * @property {(x: number, y: number) => number} find the target nearest to a pixel
 * @property {(index: number, key: string) => number} move the target that an arrow key leads to
 * @property {(index: number) => {x: number, y: number}} position where its tooltip belongs
 * @property {(index: number) => SvgNode} marker
 */

/** @typedef {{nodes: SvgNode[], targets: Targets}} Plot */

/**
 * One curve of a panel. A band lies between `values` and `upper`, an area below `values`.
 * @typedef {object} Layer
 * @property {"line" | "step" | "dots" | "band" | "area"} kind
 * @property {string} style its class
 * @property {(number | null)[]} values
 * @property {(number | null)[]} [upper]
 */

/** @typedef {{title: string, domain: Interval, integers?: boolean, layers: Layer[]}} Panel */
/** @typedef {{title: string, values: number[], integers?: boolean}} XAxis */

const TITLE = 22; // pixels for the title of an axis
const TICKS = 18; // and for tick labels below a plot
const GAP = 14; // between two panels
const CHARACTER = 7;
const MAX_LABEL = 24; // characters of a bar's label

/** @param {string[]} labels */
const labelWidth = (labels) => Math.max(...labels.map((label) => label.length)) * CHARACTER + 10;

/**
 * Panels above each other that share the x axis.
 * @param {Size} size
 * @param {XAxis} x
 * @param {Panel[]} panels
 * @returns {Plot}
 */
export function xyPlot({ width, height }, x, panels) {
  const inner = (height - TICKS - TITLE + GAP) / panels.length - TITLE - GAP;
  const yTicks = panels.map((panel) => ticks(panel.domain, Math.max(2, inner / 30), panel.integers));
  const left = Math.max(...yTicks.map((values) => labelWidth(tickLabels(values))));
  const boxes = panels.map((_, index) => {
    const top = TITLE + index * (inner + TITLE + GAP);
    return { left, right: width - 12, top, bottom: top + inner };
  });
  const domain = extent(x.values);
  const toX = linear(domain, [left, width - 12]);
  const xs = x.values.map(toX);
  const bottom = boxes[boxes.length - 1].bottom;
  const last = x.values.length - 1;
  return {
    nodes: [
      ...boxes.flatMap((box, index) => panelNodes(panels[index], box, yTicks[index], xs)),
      ...xAxis(x, domain, { ...boxes[0], bottom }),
    ],
    targets: {
      count: x.values.length,
      find: (pixel) => nearest(xs, pixel),
      move: (index, key) => clamp(index + (FORWARD.has(key) ? 1 : -1), last),
      position: (index) => ({ x: xs[index], y: TITLE }),
      marker: (index) =>
        node("line", {
          class: "crosshair",
          x1: xs[index],
          x2: xs[index],
          y1: TITLE,
          y2: bottom,
        }),
    },
  };
}

const FORWARD = new Set(["ArrowRight", "ArrowUp"]);

/**
 * @param {number} index
 * @param {number} last
 */
const clamp = (index, last) => Math.min(last, Math.max(0, index));

/**
 * @param {Panel} panel
 * @param {Box} box
 * @param {number[]} values of the ticks
 * @param {number[]} xs
 */
function panelNodes(panel, box, values, xs) {
  const toY = linear(panel.domain, [box.bottom, box.top]);
  const labels = tickLabels(values);
  const size = {
    x: box.left,
    y: box.top,
    width: Math.max(0, box.right - box.left),
    height: box.bottom - box.top,
  };
  const view = `${size.x} ${size.y} ${size.width} ${size.height}`;
  return [
    node("text", { class: "axis-title", x: 0, y: box.top - 9 }, panel.title),
    ...values.flatMap((value, index) => [
      node("line", { class: "grid", x1: box.left, x2: box.right, y1: toY(value), y2: toY(value) }),
      node("text", { class: "y-tick", x: box.left - 7, y: toY(value) + 4 }, labels[index]),
    ]),
    // An inner viewport cuts off what lies outside of the domain.
    node(
      "svg",
      { ...size, viewBox: view, "aria-hidden": "true" },
      ...panel.layers.flatMap((layer) => layerNodes(layer, xs, toY)),
    ),
  ];
}

/**
 * @param {Layer} layer
 * @param {number[]} xs
 * @param {(value: number) => number} toY
 */
function layerNodes(layer, xs, toY) {
  /** @type {(values: (number | null)[]) => PathPoint[]} */
  const points = (values) => values.map((value, index) => [xs[index], value === null ? null : toY(value)]);
  const lower = points(layer.values);
  switch (layer.kind) {
    case "band":
      return [node("path", { class: layer.style, d: areaPath(points(layer.upper ?? []), lower) })];
    case "area":
      return [node("path", { class: layer.style, d: areaPath(lower, points(layer.values.map(() => 0))) })];
    case "step":
      return [node("path", { class: layer.style, d: stepPath(lower) })];
    case "dots": // round ends make a dot of a line without length, and one path of all dots
      return [
        node("path", {
          class: layer.style,
          d: lower.map((point) => linePath([point]) && `${linePath([point])}h0`).join(""),
        }),
      ];
    default:
      return [node("path", { class: layer.style, d: linePath(lower) })];
  }
}

/**
 * @param {{title: string, integers?: boolean}} axis
 * @param {Interval} domain
 * @param {Box} box
 */
function xAxis({ title, integers }, domain, box) {
  const toX = linear(domain, [box.left, box.right]);
  const values = ticks(domain, (box.right - box.left) / 65, integers);
  const labels = tickLabels(values);
  return [
    ...values.map((value, index) => {
      const anchor = toX(value) > box.right - 20 ? "end" : "middle";
      return node(
        "text",
        { class: "x-tick", x: toX(value), y: box.bottom + TICKS, "text-anchor": anchor },
        labels[index],
      );
    }),
    node(
      "text",
      { class: "x-title", x: (box.left + box.right) / 2, y: box.bottom + TICKS + TITLE - 5 },
      title,
    ),
  ];
}

/**
 * Horizontal bars with whiskers, and a dashed line at the target.
 * @param {Size} size
 * @param {string} title of the x axis
 * @param {{label: string, value: number, error: number}[]} bars from top to bottom
 * @param {number} target
 * @returns {Plot}
 */
export function barPlot({ width, height }, title, bars, target) {
  const labels = bars.map(({ label }) =>
    label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label,
  );
  const left = Math.min(width * 0.4, labelWidth(labels));
  const box = { left, right: width - 12, top: 4, bottom: height - TICKS - TITLE };
  /** @type {Interval} */
  const domain = [0, Math.max(target, ...bars.map(({ value, error }) => value + error)) * 1.05];
  const toX = linear(domain, [box.left, box.right]);
  const row = (box.bottom - box.top) / bars.length;
  /** @param {number} index */
  const middle = (index) => box.top + (index + 0.5) * row;
  const thick = Math.min(22, row * 0.6);
  return {
    nodes: [
      ...ticks(domain, (box.right - left) / 65).map((value) =>
        node("line", { class: "grid", x1: toX(value), x2: toX(value), y1: box.top, y2: box.bottom }),
      ),
      ...bars.flatMap(({ label, value, error }, index) => [
        node(
          "text",
          { class: "y-tick", x: left - 7, y: middle(index) + 4 },
          labels[index],
          node("title", {}, label),
        ),
        node("rect", {
          class: "bar",
          x: left,
          y: middle(index) - thick / 2,
          width: Math.max(1, toX(value) - left),
          height: thick,
        }),
        node("path", {
          class: "whisker",
          d: whisker(toX(Math.max(0, value - error)), toX(value + error), middle(index)),
        }),
      ]),
      node("path", {
        class: "target",
        d: linePath([
          [toX(target), box.top],
          [toX(target), box.bottom],
        ]),
      }),
      ...xAxis({ title }, domain, box),
    ],
    targets: {
      count: bars.length,
      find: (_, pixel) => clamp(Math.floor((pixel - box.top) / row), bars.length - 1),
      move: (index, key) =>
        clamp(index + (key === "ArrowDown" || key === "ArrowRight" ? 1 : -1), bars.length - 1),
      position: (index) => ({ x: toX(bars[index].value), y: middle(index) }),
      marker: (index) =>
        node("rect", {
          class: "outline",
          x: 1,
          y: middle(index) - row / 2,
          width: width - 2,
          height: row,
        }),
    },
  };
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} y
 */
const whisker = (low, high, y) => `M${low},${y}H${high}M${low},${y - 4}v8M${high},${y - 4}v8`;

/**
 * Cells coloured by their value.
 * @param {Size} size
 * @param {{title: string, values: number[]}} x
 * @param {{title: string, values: number[]}} y
 * @param {number[][]} rows one per value of y
 * @returns {Plot}
 */
export function gridPlot({ width, height }, x, y, rows) {
  const yDomain = cellEdges(y.values);
  const xDomain = cellEdges(x.values);
  const yTicks = ticks(yDomain, height / 60);
  const box = {
    left: labelWidth(tickLabels(yTicks)),
    right: width - 12,
    top: TITLE,
    bottom: height - TICKS - TITLE,
  };
  const toX = linear(xDomain, [box.left, box.right]);
  const toY = linear(yDomain, [box.bottom, box.top]);
  const [low, high] = extent(rows.flat());
  const columns = x.values.length;
  const cell = {
    width: (box.right - box.left) / columns,
    height: (box.bottom - box.top) / y.values.length,
  };
  /** @type {(column: number, line: number) => {x: number, y: number, width: number, height: number}} */
  const corner = (column, line) => ({
    x: box.left + column * cell.width,
    y: box.bottom - (line + 1) * cell.height,
    ...cell,
  });
  const cells = rows.flatMap((row, line) =>
    row.map((value, column) =>
      node("rect", {
        ...corner(column, line),
        fill: colour(high > low ? (value - low) / (high - low) : 0.5),
      }),
    ),
  );
  return {
    nodes: [
      node("text", { class: "axis-title", x: 0, y: box.top - 9 }, y.title),
      ...yTicks.map((value, index) =>
        node("text", { class: "y-tick", x: box.left - 7, y: toY(value) + 4 }, tickLabels(yTicks)[index]),
      ),
      node("g", { class: "cells" }, ...cells),
      ...xAxis(x, xDomain, box),
    ],
    targets: {
      count: columns * y.values.length,
      find: (px, py) => {
        const column = clamp(Math.floor((px - box.left) / cell.width), columns - 1);
        return clamp(Math.floor((box.bottom - py) / cell.height), y.values.length - 1) * columns + column;
      },
      move: (index, key) => {
        const column = (index % columns) + (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0);
        const line = Math.floor(index / columns) + (key === "ArrowUp" ? 1 : key === "ArrowDown" ? -1 : 0);
        return clamp(line, y.values.length - 1) * columns + clamp(column, columns - 1);
      },
      position: (index) => ({
        x: toX(x.values[index % columns]),
        y: toY(y.values[Math.floor(index / columns)]),
      }),
      marker: (index) =>
        node("rect", { class: "outline", ...corner(index % columns, Math.floor(index / columns)) }),
    },
  };
}

/**
 * From half a cell before the first value to half a cell after the last.
 * @param {number[]} values
 * @returns {Interval}
 */
function cellEdges(values) {
  const [low, high] = extent(values);
  const half = values.length > 1 ? (high - low) / (values.length - 1) / 2 : 0.5;
  return [low - half, high + half];
}
