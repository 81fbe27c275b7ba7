// The charts of a stream: one function each, from numbers to a figure.

import { featureName, formatCount, formatNumber, formatRisk } from "./format.js";
import { smooth } from "./history.js";
import { barPlot, gridPlot, xyPlot } from "./plot.js";
import { extent, pad } from "./scale.js";

/** @import { Figure } from "./chart.js" */
/** @import { History } from "./history.js" */
/** @import { Layer, XAxis } from "./plot.js" */
/** @import { Interval } from "./scale.js" */
/** @import { GroupRisk, ThresholdMap } from "../wire" */

export const MAX_GROUPS = 20;

/**
 * @param {History} history
 * @returns {XAxis}
 */
const roundsAxis = ({ points }) => ({
  title: "rounds",
  values: points.map((point) => point.rounds),
  integers: true,
});

/** @param {number} rounds */
const roundName = (rounds) => `round ${formatCount(rounds)}`;

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
 * @param {History} history
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
    plot: (size) => xyPlot(size, roundsAxis(history), [{ title: "mean loss", domain, layers }]),
    describe: (index) => [
      roundName(points[index].rounds),
      `risk ${formatRisk(points[index].risk)}, target ${formatNumber(target)}`,
      `bound for this run ±${formatNumber(points[index].observed)}`,
      `bound for any inputs ±${formatNumber(points[index].bound)}`,
    ],
  };
}

/**
 * One dot per round, and a line through the mean of its neighbours.
 * @param {History} history
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
    plot: (size) => xyPlot(size, roundsAxis(history), [{ title: name.toLowerCase(), domain, layers }]),
    describe: (index) => [
      roundName(points[index].rounds),
      `${name.toLowerCase()} ${formatNumber(values[index])}`,
      `mean of nearby rounds ${formatNumber(means[index])}`,
    ],
  };
}

/**
 * Pending predictions at each round; below, the totals of late and expired ones.
 * @param {History} history
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
      xyPlot(size, roundsAxis(history), [
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
      roundName(points[index].rounds),
      `${formatCount(pending[index])} pending`,
      `${formatCount(late[index])} late so far`,
      `${formatCount(expired[index])} expired so far`,
    ],
  };
}

/**
 * What is guaranteed for a group, if anything is.
 * @param {GroupRisk} group
 */
function describeGuarantee({ above, below }) {
  const sides = [
    (above ?? null) === null ? "" : `${formatNumber(above ?? null)} above`,
    (below ?? null) === null ? "" : `${formatNumber(below ?? null)} below`,
  ].filter(Boolean);
  return sides.length ? [`guaranteed: at most ${sides.join(" and ")} the target`] : [];
}

/**
 * The risk of each group, highest first. A whisker is the largest standard error that losses
 * between 0 and the loss bound with this mean can have, if rounds are independent.
 * @param {GroupRisk[]} groups
 * @param {number} target
 * @param {number} lossBound
 * @returns {Figure}
 */
export function groupFigure(groups, target, lossBound) {
  const rows = [...groups].sort((one, other) => other.risk - one.risk).slice(0, MAX_GROUPS);
  const bars = rows.map(({ group, risk, rounds }) => ({
    label: group,
    value: risk,
    error: Math.sqrt((risk * Math.max(0, lossBound - risk)) / rounds),
  }));
  const above = groups.filter(({ risk }) => risk > target).length;
  const highest = rows[0];
  return {
    height: Math.max(200, 46 + rows.length * 28),
    label:
      `Risk of ${formatCount(groups.length)} groups, ${formatCount(above)} above the target ` +
      `${formatNumber(target)}. Highest: ${highest.group}, ${formatRisk(highest.risk)}.`,
    plot: (size) => barPlot(size, "mean loss", bars, target),
    describe: (index) => [
      rows[index].group,
      `risk ${formatRisk(rows[index].risk)} ± ${formatNumber(bars[index].error)}, target ${formatNumber(target)}`,
      `${formatCount(rows[index].rounds)} rounds`,
      ...describeGuarantee(rows[index]),
    ],
  };
}

/**
 * The threshold over two features, or along one.
 * @param {ThresholdMap} map
 * @returns {Figure}
 */
export function mapFigure(map) {
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
