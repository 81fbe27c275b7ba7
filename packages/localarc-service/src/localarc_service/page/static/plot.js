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
/** @typedef {{value: number, label: string}} Tick */

/**
 * The x axis that panels share. Marks are moments to point out, each a line from top to bottom.
 * @typedef {object} XAxis
 * @property {string} title
 * @property {number[]} values
 * @property {Interval} [domain] where it is not that of the values
 * @property {(domain: Interval, count: number) => Tick[]} [ticks] where they are not round numbers
 * @property {(Tick & {style: string})[]} [marks]
 */

const TITLE = 22; // pixels for the title of an axis
const TICKS = 18; // and for tick labels below a plot
const GAP = 14; // between two panels
const CHARACTER = 7;

/**
 * As much of a text as has room, and all of it for those who ask.
 * @param {string} text
 * @param {number} width in pixels
 */
function fit(text, width) {
  const count = Math.max(4, Math.floor(width / CHARACTER));
  return text.length <= count ? [text] : [`${text.slice(0, count - 1)}…`, node("title", {}, text)];
}

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
  const domain = x.domain ?? extent(x.values);
  const toX = linear(domain, [left, width - 12]);
  const xs = x.values.map(toX);
  const bottom = boxes[boxes.length - 1].bottom;
  const last = x.values.length - 1;
  return {
    nodes: [
      ...boxes.flatMap((box, index) => panelNodes(panels[index], box, yTicks[index], xs)),
      ...markNodes(x.marks ?? [], domain, { ...boxes[0], bottom }),
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
    node("text", { class: "axis-title", x: 0, y: box.top - 9 }, ...fit(panel.title, box.right)),
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
 * Vertical lines with a label at the top, which leans away from the nearer edge.
 * @param {(Tick & {style: string})[]} marks
 * @param {Interval} domain
 * @param {Box} box
 */
function markNodes(marks, domain, box) {
  const toX = linear(domain, [box.left, box.right]);
  const inside = marks.filter(({ value }) => value >= domain[0] && value <= domain[1]);
  return inside.flatMap(({ value, label, style }) => {
    const x = toX(value);
    const isRight = x > (box.left + box.right) / 2;
    const text = { x: x + (isRight ? -6 : 6), y: box.top + 11, "text-anchor": isRight ? "end" : "start" };
    return [
      node("line", { class: `mark ${style}`, x1: x, x2: x, y1: box.top - 4, y2: box.bottom }),
      node(
        "text",
        { class: `mark ${style}`, ...text },
        ...fit(label, (isRight ? x - box.left : box.right - x) - 8),
      ),
    ];
  });
}

/**
 * @param {Pick<XAxis, "title" | "ticks">} axis
 * @param {Interval} domain
 * @param {Box} box
 */
function xAxis({ title, ticks: makeTicks = roundTicks }, domain, box) {
  const toX = linear(domain, [box.left, box.right]);
  return [
    ...makeTicks(domain, (box.right - box.left) / 65).map(({ value, label }) => {
      const anchor = toX(value) > box.right - 20 ? "end" : "middle";
      return node(
        "text",
        { class: "x-tick", x: toX(value), y: box.bottom + TICKS, "text-anchor": anchor },
        label,
      );
    }),
    node(
      "text",
      { class: "x-title", x: (box.left + box.right) / 2, y: box.bottom + TICKS + TITLE - 5 },
      ...fit(title, box.right - box.left),
    ),
  ];
}

/**
 * @param {Interval} domain
 * @param {number} count
 * @returns {Tick[]}
 */
function roundTicks(domain, count) {
  const values = ticks(domain, count);
  const labels = tickLabels(values);
  return values.map((value, index) => ({ value, label: labels[index] }));
}

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
      node("text", { class: "axis-title", x: 0, y: box.top - 9 }, ...fit(y.title, box.right)),
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
