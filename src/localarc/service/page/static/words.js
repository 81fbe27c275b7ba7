// Numbers as people read them.

export const count = (value) => value.toLocaleString("en");

export const figure = (value) => (value === null ? "–" : Number(value.toPrecision(3)).toString());

/** A risk keeps its places, so that it does not jump about while it moves. */
export const risk = (value) => (value === null ? "–" : value.toFixed(4));

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit ? value.toPrecision(3) : value} ${units[unit]}`;
}

export function ago(seconds) {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export const clock = (date) => date.toLocaleTimeString("en-GB");

export const feature = (index) => `x[${index}]`;
