// The history of one stream: what the service kept, extended by the events since.

import { finite } from "./format.js";

/** @import { HistoryResponse, StreamEvent } from "../wire" */

/**
 * A stream after one round.
 * @typedef {object} Point
 * @property {number} rounds
 * @property {number} at in seconds since 1970; never before that of the point before it
 * @property {number} risk
 * @property {number | null} threshold
 * @property {number | null} size
 * @property {number | null} bound
 * @property {number | null} observed
 * @property {number} pending
 * @property {number} late
 * @property {number} expired
 */

/** @typedef {{seq: number, target: number, points: readonly Point[]}} History */

export const MAX_POINTS = 2_000;

/**
 * Give names to the values of each point, in the order of the wire type HistoryPoint.
 * @param {HistoryResponse} response
 * @returns {History}
 */
export function readHistory(response) {
  let latest = -Infinity; // a clock that was set back must not fold the time axis
  const points = response.points.map(
    ([rounds, at, risk, threshold, size, bound, observed, pending, late, expired]) => {
      latest = Math.max(latest, at);
      const shown = { threshold: finite(threshold), size: finite(size) };
      return { rounds, at: latest, risk, ...shown, bound, observed, pending, late, expired };
    },
  );
  return { seq: response.seq, target: response.target, points };
}

/**
 * The history after an event. Only an event that the stream learned from adds a point; beyond
 * `MAX_POINTS` every second point is dropped.
 * @param {History} history
 * @param {StreamEvent} event
 * @returns {History}
 */
export function extendHistory(history, event) {
  const seq = Math.max(history.seq, event.seq);
  const last = history.points.at(-1);
  const learned = event.kind === "feedback" || (event.kind === "expired" && (event.loss ?? null) !== null);
  if (!learned || event.rounds <= (last?.rounds ?? 0)) return { ...history, seq };
  const { rounds, risk, pending, late, expired } = event;
  const points = [
    ...history.points,
    {
      rounds,
      at: Math.max(event.at, last?.at ?? -Infinity),
      risk: risk ?? 0,
      threshold: event.kind === "feedback" ? finite(event.threshold) : null,
      size: event.kind === "feedback" ? finite(event.size) : null,
      bound: last?.bound ?? null, // events carry no bounds: the next history does
      observed: last?.observed ?? null,
      pending,
      late,
      expired,
    },
  ];
  const kept = points.length > MAX_POINTS ? points.filter((_, index) => index % 2 === 1) : points;
  return { ...history, seq, points: kept };
}

/**
 * The part of a history from one time to another.
 * @param {History} history
 * @param {number} from
 * @param {number} to
 * @returns {History}
 */
export function historyBetween(history, from, to) {
  return { ...history, points: history.points.filter(({ at }) => at >= from && at <= to) };
}

/**
 * The mean loss of the last rounds at each point, which two running risks determine. `rounds` is how
 * many these are: the window, fewer at the start, more where points are further apart than that.
 * @param {readonly Point[]} points
 * @param {number} window
 * @returns {{risk: number | null, rounds: number}[]}
 */
export function windowedRisk(points, window) {
  const isWhole = points.length > 0 && points[0].rounds <= window; // else it starts in the middle
  let last = -1; // the last point that is a whole window ago
  return points.map(({ rounds, risk }) => {
    while (points[last + 1].rounds <= rounds - window) last += 1;
    const before = last < 0 && isWhole ? { rounds: 0, risk: 0 } : points[Math.max(0, last)];
    const count = rounds - before.rounds;
    const sum = risk * rounds - before.risk * before.rounds;
    return { risk: count > 0 ? sum / count : null, rounds: count };
  });
}

/**
 * The mean of each value and its neighbours, without those that are missing.
 * @param {readonly (number | null)[]} values
 * @param {number} width neighbours on each side
 * @returns {(number | null)[]}
 */
export function smooth(values, width) {
  return values.map((_, index) => {
    const near = values
      .slice(Math.max(0, index - width), index + width + 1)
      .filter((value) => value !== null);
    return near.length ? near.reduce((sum, value) => sum + value, 0) / near.length : null;
  });
}
