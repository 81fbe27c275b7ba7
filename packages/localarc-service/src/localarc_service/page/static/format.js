// Numbers as people read them.

const MISSING = "–";

/** @param {number} value */
export const formatCount = (value) => value.toLocaleString("en");

/** Three significant digits. @param {number | "inf" | "-inf" | null} value */
export const formatNumber = (value) => {
  if (typeof value === "string") return value === "inf" ? "∞" : "−∞";
  return value === null ? MISSING : Number(value.toPrecision(3)).toString();
};

/** A number, null where there is none or it is infinite: charts leave it out. @param {unknown} value */
export const finite = (value) => (typeof value === "number" ? value : null);

/**
 * Four decimals, always: the digits stay in place while the risk changes.
 * @param {number | null} value
 */
export const formatRisk = (value) => (value === null ? MISSING : value.toFixed(4));

/** @param {number} value */
export function formatBytes(value) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit ? value.toPrecision(3) : value} ${units[unit]}`;
}

/** @param {number} seconds */
export function formatDuration(seconds) {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

/** The time of day. @param {Date} date */
export const formatTime = (date) => date.toLocaleTimeString("en-GB");

/**
 * A moment: the time of day, and the day if that is not today.
 * @param {number} seconds since 1970
 */
export function formatMoment(seconds, now = new Date()) {
  const date = new Date(seconds * 1000);
  const time = formatTime(date);
  if (date.toDateString() === now.toDateString()) return time;
  return `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" })}, ${time}`;
}

/**
 * The name of a feature by its position; without names, the one that programs use.
 * @param {readonly string[] | null} names
 */
export const featureNames = (names) => (/** @type {number} */ index) => names?.[index] ?? `x[${index}]`;

/**
 * What people say about a stream.
 * @param {Record<string, string>} labels
 */
export const describeLabels = (labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}: ${value}`)
    .join(" · ");
