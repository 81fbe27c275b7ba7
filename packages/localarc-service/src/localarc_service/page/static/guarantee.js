// The consistency check and the bounds, in words.

import { child, setText, updateList } from "./dom.js";
import { formatCount, formatNumber } from "./format.js";
import { lossBound } from "./settings.js";

/** @import { Bound, StreamSummary } from "../wire" */

/**
 * Whether a stream can be relied on, and the sentence that explains it.
 * @param {StreamSummary} summary
 * @returns {{passed: boolean, text: string}}
 */
export function assess(summary) {
  const { certificate } = summary;
  if (!certificate.consistent) {
    return {
      passed: false,
      text:
        "The thresholds do not follow from the reported losses: a loss was dropped or applied twice, or an " +
        `old state was restored (difference ${formatNumber(certificate.consistency_gap)}). Do not rely on the risk ` +
        "or the thresholds of this stream. Restore a known good state.",
    };
  }
  if (certificate.replay_differs > 0) {
    const plural = certificate.replay_differs === 1 ? "a threshold that differs" : "thresholds that differ";
    return {
      passed: false,
      text:
        `Replay produced ${formatCount(certificate.replay_differs)} ${plural} from those originally returned: ` +
        "the stored events or the snapshot were modified, or another version wrote them.",
    };
  }
  if (!summary.consistent) {
    return {
      passed: false,
      text: "The service stopped this stream after an error. See its log for the reason.",
    };
  }
  if (summary.rounds === 0) return { passed: true, text: "Waiting for the first feedback." };
  return { passed: true, text: `Every reported loss was applied exactly once. ${describeBound(summary)}` };
}

/**
 * How far the risk can be from the target, on the side that a bound is about.
 * @param {Bound} bound
 * @param {number} target
 */
export function describeDistance({ value, side }, target) {
  const distance = formatNumber(value);
  if (side === "both") return `within ${distance} of the target ${formatNumber(target)}`;
  return `at most ${distance} ${side} the target ${formatNumber(target)}`;
}

/** @param {StreamSummary} summary */
function describeBound({ certificate, config, target }) {
  const { bound } = certificate;
  if (!bound.holds || bound.value === null) {
    const reason = bound.unmet.length ? ` (${bound.unmet.join("; ")})` : "";
    return `No bound on the risk is guaranteed${reason}.`;
  }
  const delay = certificate.max_pending
    ? ` This accounts for up to ${formatCount(certificate.max_pending)} pending predictions at a time.`
    : "";
  if (bound.value >= Math.max(target, lossBound(config) - target)) {
    return (
      `The bound, ${describeDistance(bound, target)}, is not informative yet. ` +
      `It narrows as feedback arrives.${delay}`
    );
  }
  return (
    `For any input sequence, the risk stays ${describeDistance(bound, target)} ` + `(${bound.name}).${delay}`
  );
}

/**
 * @param {HTMLElement} section
 * @param {StreamSummary} summary
 */
export function showGuarantee(section, summary) {
  const { passed, text } = assess(summary);
  section.dataset.state = passed ? "passed" : "failed";
  setText(child(section, "h2"), passed ? "Consistency check passed" : "Consistency check failed");
  setText(child(section, "#guarantee-text"), text);
  updateList(
    child(section, "tbody"),
    summary.certificate.bounds,
    (bound) => bound.name,
    createRow,
    updateRow,
  );
  return passed;
}

function createRow() {
  const row = document.createElement("tr");
  for (let column = 0; column < 3; column += 1) row.insertCell();
  return row;
}

/**
 * @param {HTMLElement} row
 * @param {Bound} bound
 */
function updateRow(row, bound) {
  const assumptions = [...bound.assumes, ...bound.unmet.map((assumption) => `not met: ${assumption}`)];
  const side = bound.side === "both" ? "" : ` (${bound.side} only)`;
  const value = bound.holds ? `${formatNumber(bound.value)}${side}` : "none";
  const texts = [bound.name, value, assumptions.join("; ")];
  texts.forEach((text, column) => {
    setText(row.children[column], text);
  });
}
