// The part of a history that the charts show: which times, and what to mark in them.

import { windowedRisk } from "./history.js";

/** @import { Address } from "./address.js" */
/** @import { Point } from "./history.js" */
/** @import { Tick } from "./plot.js" */
/** @import { Interval } from "./scale.js" */
/** @import { StreamState } from "./stream.js" */
/** @import { Health } from "../wire" */

const UNITS = /** @type {Record<string, number>} */ ({ m: 60, h: 3600, d: 86400 });
const AROUND = 60; // points of the history before and after an alarm

/**
 * The points in the time range of the address, with the risk of the last rounds at each of them.
 * @param {Pick<StreamState, "history" | "address" | "summary">} state
 * @param {number} now in seconds since 1970
 */
export function sectionOf({ history, address, summary }, now = Date.now() / 1000) {
  const { points } = history;
  const whole = wholeSpan(points, summary.health.status === "stale" ? now : -Infinity);
  const [from, to] = spanOf(address, Math.max(now, whole[1])) ?? whole; // a clock may be ahead
  /** @type {Interval} */
  const span = [Math.max(from, Math.min(whole[0], to)), to];
  const windowed = windowedRisk(points, summary.overall.window);
  /** @param {unknown} _ @param {number} index */
  const isInside = (_, index) => points[index].at >= span[0] && points[index].at <= span[1];
  return { ...history, span, points: points.filter(isInside), windowed: windowed.filter(isInside) };
}

/**
 * From the first point to the last one, or to a later moment.
 * @param {readonly Point[]} points
 * @param {number} end
 * @returns {Interval}
 */
function wholeSpan(points, end) {
  const last = points.at(-1);
  return last ? [points[0].at, Math.max(last.at, end)] : [0, 0];
}

/**
 * The times that an address asks for; null for all.
 * @param {Pick<Address, "range" | "from" | "to">} address
 * @param {number} now in seconds since 1970
 * @returns {Interval | null}
 */
export function spanOf({ range, from, to }, now) {
  if (from !== null || to !== null) return [from ?? -Infinity, to ?? now];
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(range) ?? [];
  return unit ? [now - Number(count) * UNITS[unit], now] : null;
}

/**
 * From a while before a moment to a while after it, in points of the history.
 * @param {readonly Point[]} points at least one
 * @param {number} moment
 * @returns {{from: number, to: number}}
 */
export function rangeAround(points, moment) {
  const at = points.filter((point) => point.at < moment).length;
  const first = points[Math.max(0, at - AROUND)];
  const last = points[Math.min(points.length - 1, at + AROUND)];
  return { from: Math.floor(Math.min(first.at, moment)), to: Math.ceil(Math.max(last.at, moment)) };
}

/**
 * When the alarm was raised: that of the stream, and that of the selected group.
 * @param {Pick<StreamState, "summary" | "address">} state
 * @returns {(Tick & {style: string})[]}
 */
export function alarmMarks({ summary, address }) {
  const selected = summary.groups_health.find(({ group }) => group === address.group);
  const alarms = [summary.health, ...(selected ? [selected] : [])].filter(({ status }) => status !== "ok");
  const marks = alarms.flatMap((health) =>
    health.since === null ? [] : [{ value: health.since, label: alarmName(health), style: health.status }],
  );
  return marks.filter(({ label }, index) => marks.findIndex((mark) => mark.label === label) === index);
}

/** @param {Health} health */
const alarmName = ({ status, group }) => ((group ?? null) === null ? status : `${status}: ${group}`);

/**
 * A time as fields for dates expect it: on the reader's clock, without a zone.
 * @param {number} seconds since 1970
 */
export function localTime(seconds) {
  const offset = new Date(seconds * 1000).getTimezoneOffset() * 60;
  return new Date((Math.round(seconds) - offset) * 1000).toISOString().slice(0, 19);
}
