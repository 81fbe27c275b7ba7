// The charts of a stream: one function each, from numbers to a figure.

import { formatCount, formatMoment, formatNumber, formatRisk } from "./format.js";
import { smooth } from "./history.js";
import { gridPlot, xyPlot } from "./plot.js";
import { extent, pad } from "./scale.js";
import { timeTicks, timeTitle } from "./time_scale.js";

/** @import { Figure } from "./chart.js" */
/** @import { History, Point } from "./history.js" */
/** @import { Layer, Tick, XAxis } from "./plot.js" */
/** @import { Interval } from "./scale.js" */
/** @import { ThresholdMap } from "../wire" */

/**
 * A history as it is drawn: its points, and the times from the left edge to the right one.
 * @typedef {History & {span: Interval}} Section
 */

/**
 * @param {Section} section
 * @param {(Tick & {style: string})[]} marks
 * @returns {XAxis}
 */
const timeAxis = ({ points, span }, marks = []) => ({
  title: timeTitle(span),
  values: points.map((point) => point.at),
  domain: span,
  ticks: timeTicks,
  marks,
});

/** @param {number} rounds */
const roundName = (rounds) => `round ${formatCount(rounds)}`;

/** @param {Point} point */
const pointName = ({ at, rounds }) => `${formatMoment(at)} · ${roundName(rounds)}`;

/**
 * The mean loss of the last rounds, with the target and the limit that raises an alarm.
 * @param {Section} section
 * @param {{risk: number | null, rounds: number}[]} windowed one per point
 * @param {number} tolerance
 * @param {(Tick & {style: string})[]} marks when the status changed
 * @returns {Figure}
 */
export function recentRiskFigure(section, windowed, tolerance, marks) {
  const { points, target } = section;
  const values = windowed.map(({ risk }) => risk);
  const limit = target + tolerance;
  const [, high] = extent([limit, ...values]);
  /** @type {Layer[]} */
  const layers = [
    { kind: "line", style: "limit", values: points.map(() => limit) },
    { kind: "line", style: "target", values: points.map(() => target) },
    { kind: "line", style: "risk", values },
  ];
  const last = points.length - 1;
  return {
    label:
      `Mean loss of the last ${formatCount(windowed[last].rounds)} rounds at ${formatMoment(points[last].at)}: ` +
      `${formatRisk(values[last])}, target ${formatNumber(target)}, alarm above ${formatNumber(limit)}.` +
      marks.map(({ value, label }) => ` At ${formatMoment(value)}: ${label}.`).join(""),
    plot: (size) =>
      xyPlot(size, timeAxis(section, marks), [{ title: "mean loss", domain: [0, high * 1.15], layers }]),
    describe: (index) => [
      pointName(points[index]),
      `risk of the last ${formatCount(windowed[index].rounds)} rounds ${formatRisk(values[index])}`,
      `target ${formatNumber(target)}, alarm above ${formatNumber(limit)}`,
    ],
  };
}

/**
 * The range of the risk chart: the target, and the risk after its first jumps.
 * @param {History} history
 * @returns {Interval}
 */
export function riskDomain({ points, target }) {
  const skipped = Math.min(20, Math.floor(points.length / 10));
  const [low, high] = extent([target, ...points.slice(skipped).map((point) => point.risk)]);
  const margin = Math.max(high - low, 0.2 * target) * 0.25;
  return [Math.max(0, low - margin), high + margin];
}

/**
 * The running risk, with the target and both bounds around it.
 * @param {Section} history
 * @param {number} lossBound
 * @returns {Figure}
 */
export function riskFigure(history, lossBound) {
  const { points, target } = history;
  const trivial = Math.max(target, lossBound - target); // no risk is further from the target
  /** @type {(bounds: (number | null)[], sign: number) => (number | null)[]} */
  const around = (bounds, sign) =>
    bounds.map((bound) => (bound === null || bound >= trivial ? null : target + sign * bound));
  const observed = points.map((point) => point.observed);
  const bound = points.map((point) => point.bound);
  /** @type {Layer[]} */
  const layers = [
    { kind: "band", style: "band", values: around(observed, -1), upper: around(observed, 1) },
    { kind: "line", style: "bound", values: around(bound, -1) },
    { kind: "line", style: "bound", values: around(bound, 1) },
    { kind: "line", style: "target", values: points.map(() => target) },
    { kind: "line", style: "risk", values: points.map((point) => point.risk) },
  ];
  const last = points[points.length - 1];
  const domain = riskDomain(history);
  return {
    label:
      `Running risk after ${formatCount(last.rounds)} rounds: ${formatRisk(last.risk)}, ` +
      `target ${formatNumber(target)}${last.observed === null ? "" : `, bound for this run ±${formatNumber(last.observed)}`}.`,
    plot: (size) => xyPlot(size, timeAxis(history), [{ title: "mean loss", domain, layers }]),
    describe: (index) => [
      pointName(points[index]),
      `risk ${formatRisk(points[index].risk)}, target ${formatNumber(target)}`,
      `bound for this run ±${formatNumber(points[index].observed)}`,
      `bound for any inputs ±${formatNumber(points[index].bound)}`,
    ],
  };
}

/**
 * One dot per round, and a line through the mean of its neighbours.
 * @param {Section} history
 * @param {"threshold" | "size"} field
 * @param {string} name
 * @returns {Figure}
 */
export function scatterFigure(history, field, name) {
  const { points } = history;
  const values = points.map((point) => point[field]);
  const means = smooth(values, Math.max(2, Math.round(values.length / 60)));
  const domain = pad(extent(values));
  /** @type {Layer[]} */
  const layers = [
    { kind: "dots", style: "dots", values },
    { kind: "line", style: "risk", values: means },
  ];
  const last = points.length - 1;
  return {
    label:
      `${name} at ${roundName(points[last].rounds)}: ${formatNumber(values[last])}, ` +
      `mean of nearby rounds ${formatNumber(means[last])}.`,
    plot: (size) => xyPlot(size, timeAxis(history), [{ title: name.toLowerCase(), domain, layers }]),
    describe: (index) => [
      pointName(points[index]),
      `${name.toLowerCase()} ${formatNumber(values[index])}`,
      `mean of nearby rounds ${formatNumber(means[index])}`,
    ],
  };
}

/**
 * Pending predictions at each round; below, the totals of late and expired ones.
 * @param {Section} history
 * @returns {Figure}
 */
export function feedbackFigure(history) {
  const { points } = history;
  /** @type {(values: number[]) => Interval} */
  const fromZero = (values) => [0, Math.max(1, ...values) * 1.08];
  const pending = points.map((point) => point.pending);
  const late = points.map((point) => point.late);
  const expired = points.map((point) => point.expired);
  const last = points.length - 1;
  return {
    label:
      `Feedback after ${formatCount(points[last].rounds)} rounds: ${formatCount(pending[last])} pending, ` +
      `${formatCount(late[last])} late, ${formatCount(expired[last])} expired.`,
    plot: (size) =>
      xyPlot(size, timeAxis(history), [
        {
          title: "pending",
          integers: true,
          domain: fromZero(pending),
          layers: [
            { kind: "area", style: "band", values: pending },
            { kind: "step", style: "risk", values: pending },
          ],
        },
        {
          title: "total so far",
          integers: true,
          domain: fromZero([...late, ...expired]),
          layers: [
            { kind: "step", style: "late", values: late },
            { kind: "step", style: "expired", values: expired },
          ],
        },
      ]),
    describe: (index) => [
      pointName(points[index]),
      `${formatCount(pending[index])} pending`,
      `${formatCount(late[index])} late so far`,
      `${formatCount(expired[index])} expired so far`,
    ],
  };
}

/**
 * The threshold over two features, or along one.
 * @param {ThresholdMap} map
 * @param {(index: number) => string} featureName
 * @returns {Figure}
 */
export function mapFigure(map, featureName) {
  const [low, high] = extent(map.thresholds.flat());
  const first = { title: featureName(map.first), values: map.first_values };
  const range = `from ${formatNumber(low)} to ${formatNumber(high)} after ${formatCount(map.rounds)} rounds`;
  if (map.second === null) {
    const [values] = map.thresholds;
    /** @type {Layer[]} */
    const layers = [{ kind: "line", style: "risk", values }];
    return {
      label: `Threshold along ${first.title}: ${range}.`,
      plot: (size) => xyPlot(size, first, [{ title: "threshold", domain: pad([low, high]), layers }]),
      describe: (index) => [
        `threshold ${formatNumber(values[index])}`,
        `${first.title} = ${formatNumber(first.values[index])}`,
      ],
    };
  }
  const second = { title: featureName(map.second), values: map.second_values };
  const columns = first.values.length;
  return {
    label: `Threshold over ${first.title} and ${second.title}: ${range}.`,
    plot: (size) => gridPlot(size, first, second, map.thresholds),
    describe: (index) => {
      const [line, column] = [Math.floor(index / columns), index % columns];
      return [
        `threshold ${formatNumber(map.thresholds[line][column])}`,
        `${first.title} = ${formatNumber(first.values[column])}`,
        `${second.title} = ${formatNumber(second.values[line])}`,
      ];
    },
  };
}
