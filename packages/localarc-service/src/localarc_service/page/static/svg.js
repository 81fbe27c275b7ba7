// SVG as plain data, which tests can read, and its way into the document.

/** @typedef {{tag: string, attributes: Record<string, string | number>, children: (SvgNode | string)[]}} SvgNode */
/** @typedef {[x: number, y: number | null]} PathPoint */

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {(SvgNode | string)[]} children
 * @returns {SvgNode}
 */
export const node = (tag, attributes = {}, ...children) => ({ tag, attributes, children });

/** Tenths of a pixel are enough. @param {number} value */
const round = (value) => Math.round(value * 10) / 10;

/**
 * The `d` of a line through points, interrupted where y is missing.
 * @param {PathPoint[]} points
 */
export function linePath(points) {
  let down = false;
  return points
    .map(([x, y]) => {
      if (y === null) {
        down = false;
        return "";
      }
      const command = `${down ? "L" : "M"}${round(x)},${round(y)}`;
      down = true;
      return command;
    })
    .join("");
}

/**
 * The `d` of a staircase: each value holds until the next point.
 * @param {PathPoint[]} points
 */
export function stepPath(points) {
  return linePath(
    points.flatMap(([x, y], index) => {
      const before = index > 0 ? points[index - 1][1] : null;
      return before === null || y === null
        ? [[x, y]]
        : [
            [x, before],
            [x, y],
          ];
    }),
  );
}

/**
 * The `d` of the area between two lines, one closed piece for each run without a missing value.
 * @param {PathPoint[]} upper
 * @param {PathPoint[]} lower with the same x
 */
export function areaPath(upper, lower) {
  /** @type {number[][]} */
  const runs = [];
  upper.forEach(([, y], index) => {
    if (y === null || lower[index][1] === null) return;
    if (runs.at(-1)?.at(-1) === index - 1) runs.at(-1)?.push(index);
    else runs.push([index]);
  });
  return runs
    .map((run) => {
      const back = [...run].reverse();
      const edge = linePath([...run.map((index) => upper[index]), ...back.map((index) => lower[index])]);
      return `${edge}Z`;
    })
    .join("");
}

/**
 * An SVG element for a node; attributes and text are set as such, never parsed.
 * @param {SvgNode} described
 * @returns {SVGElement}
 */
export function createSvg({ tag, attributes, children }) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children.map((part) => (typeof part === "string" ? part : createSvg(part))));
  return element;
}
