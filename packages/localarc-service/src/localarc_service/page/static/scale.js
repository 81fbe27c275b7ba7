// Scales: from numbers to pixels, with round numbers for the ticks.

/** @typedef {[low: number, high: number]} Interval */

/**
 * The smallest and the largest of the values that are not missing.
 * @param {readonly (number | null)[]} values
 * @returns {Interval}
 */
export function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}

/**
 * An interval with some space at both ends, never empty.
 * @param {Interval} interval
 * @returns {Interval}
 */
export function pad([low, high], share = 0.06) {
  const margin = high > low ? (high - low) * share : Math.max(Math.abs(high) * 0.1, 0.5);
  return [low - margin, high + margin];
}

/**
 * A function from the domain to the range, both intervals.
 * @param {Interval} domain
 * @param {Interval} range
 */
export function linear([low, high], [start, end]) {
  const factor = high > low ? (end - start) / (high - low) : 0;
  /** @param {number} value */
  return (value) => start + (value - low) * factor;
}

/**
 * Round numbers in an interval: multiples of 1, 2 or 5 times a power of ten.
 * @param {Interval} interval
 * @param {number} count about how many
 * @param {boolean} integers whether fractions make no sense
 */
export function ticks([low, high], count, integers = false) {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5].find((candidate) => candidate * power >= rough * 0.999) ?? 10;
  const step = integers ? Math.max(1, Math.round(factor * power)) : factor * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/**
 * Labels for ticks, all with the same number of decimals.
 * @param {number[]} values
 */
export function tickLabels(values) {
  const largest = Math.max(...values.map(Math.abs));
  const step = values.length > 1 ? values[1] - values[0] : largest || 1;
  if (largest >= 1e7 || step < 1e-6)
    return values.map((value) => (value === 0 ? "0" : value.toExponential(1)));
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return values.map((value) =>
    value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
  );
}

/**
 * The index of the value nearest to a number; the values ascend.
 * @param {readonly number[]} values
 * @param {number} wanted
 */
export function nearest(values, wanted) {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low > 0 && wanted - values[low - 1] <= values[low] - wanted ? low - 1 : low;
}

const STOPS = ["440154", "414487", "2a788e", "22a884", "7ad151", "fde725"].map((hex) =>
  [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)),
);

/**
 * A colour from dark violet at 0 to yellow at 1, as light as the number is large.
 * @param {number} share
 */
export function colour(share) {
  const at = Math.min(1, Math.max(0, share)) * (STOPS.length - 1);
  const index = Math.min(STOPS.length - 2, Math.floor(at));
  const mixed = STOPS[index].map((low, channel) =>
    Math.round(low + (STOPS[index + 1][channel] - low) * (at - index)),
  );
  return `rgb(${mixed.join(",")})`;
}
