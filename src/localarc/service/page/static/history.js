// The history of one stream: what the service kept, extended by the events since.

/** @import { HistoryResponse, StreamEvent } from "../wire" */

/**
 * A stream after one round.
 * @typedef {object} Point
 * @property {number} rounds
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
  const points = response.points.map(
    ([rounds, _at, risk, threshold, size, bound, observed, pending, late, expired]) => {
      return { rounds, risk, threshold, size, bound, observed, pending, late, expired };
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
      risk: risk ?? 0,
      threshold: event.kind === "feedback" ? event.threshold : null,
      size: event.kind === "feedback" ? (event.size ?? null) : null,
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
 * The last part of a history.
 * @param {History} history
 * @param {number} share of its rounds, from 0 to 1
 * @returns {History}
 */
export function recentHistory(history, share) {
  const start = (history.points.at(-1)?.rounds ?? 0) * (1 - share);
  return { ...history, points: history.points.filter((point) => point.rounds > start) };
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
