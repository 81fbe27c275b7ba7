// Times on an axis: ticks at round times of the reader's clock, and their labels.

/** @import { Interval } from "./scale.js" */

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;
const STEPS = [
  ...[1, 10, 100].flatMap((count) => [count, 2 * count, 5 * count]).map((count) => count / 1000),
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 60, 90, 180, 365].map((count) => count * DAY),
];

/** @param {number} seconds since 1970 */
const toDate = (seconds) => new Date(Math.round(seconds * 1000));

/**
 * Round times in an interval of seconds since 1970, with labels. A label names the day where it
 * changes.
 * @param {Interval} interval
 * @param {number} count about how many
 * @returns {{value: number, label: string}[]}
 */
export function timeTicks([low, high], count) {
  const rough = (high - low) / Math.max(1, count);
  const step = STEPS.find((candidate) => candidate >= rough) ?? Math.ceil(rough / 365 / DAY) * 365 * DAY;
  const values = step < DAY ? clockTicks(low, high, step) : dayTicks(low, high, step / DAY);
  return values.map((value, index) => ({ value, label: tickLabel(value, values[index - 1], step) }));
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} step in seconds, less than a day
 */
function clockTicks(low, high, step) {
  const shift = toDate(low).getTimezoneOffset() * MINUTE; // round on the reader's clock, not in UTC
  const first = Math.ceil((low - shift) / step) * step + shift;
  return Array.from(
    { length: Math.max(0, Math.floor((high - first) / step) + 1) },
    (_, index) => first + index * step,
  );
}

/**
 * Midnights, every so many days.
 * @param {number} low
 * @param {number} high
 * @param {number} days
 */
function dayTicks(low, high, days) {
  const day = toDate(low);
  day.setHours(24, 0, 0, 0);
  const values = [];
  while (day.getTime() / 1000 <= high) {
    values.push(day.getTime() / 1000);
    day.setDate(day.getDate() + days);
  }
  return values;
}

/**
 * @param {number} value
 * @param {number | undefined} before the tick to the left
 * @param {number} step
 */
function tickLabel(value, before, step) {
  const date = toDate(value);
  if (step >= 300 * DAY) return date.toLocaleDateString("en-GB", { month: "short", year: "numeric" });
  const isNewDay = before !== undefined && toDate(before).getDate() !== date.getDate();
  if (step >= DAY || isNewDay) return date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  /** @type {Intl.DateTimeFormatOptions} */
  const clock = { hour: "2-digit", minute: "2-digit", second: step < MINUTE ? "2-digit" : undefined };
  if (step < 1) clock.fractionalSecondDigits = step < 0.01 ? 3 : step < 0.1 ? 2 : 1;
  return date.toLocaleTimeString("en-GB", clock);
}

/**
 * What the ticks leave out: the day if it is only one, and the time zone.
 * @param {Interval} interval
 */
export function timeTitle([low, high]) {
  const zone = zoneName(toDate(high));
  const days = [low, high].map((time) =>
    toDate(time).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" }),
  );
  return `${days[0] === days[1] ? days[0] : `${days[0]} – ${days[1]}`}, ${zone}`;
}

/** @param {Date} date */
function zoneName(date) {
  const minutes = -date.getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const two = (/** @type {number} */ value) => String(Math.floor(Math.abs(value))).padStart(2, "0");
  return `UTC${minutes < 0 ? "−" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}
