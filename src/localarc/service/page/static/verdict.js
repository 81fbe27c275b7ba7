// The verdict of the service on a stream: its sentence, the warnings and the tightest bound.

import { byId, setText, updateList } from "./dom.js";
import { describeDistance } from "./guarantee.js";

/** @import { StreamSummary, Verdict } from "../wire" */

/**
 * What a verdict calls for: nothing, patience or action.
 * @param {Verdict} verdict
 * @returns {"passed" | "unknown" | "failed"}
 */
export function verdictState({ state }) {
  if (state === "kept" || state === "cautious") return "passed";
  return state === "too early" ? "unknown" : "failed";
}

/** @param {StreamSummary} summary */
export function describeTightest({ certificate, config, target }) {
  const { tightest } = certificate;
  if (!certificate.consistent || tightest === null || tightest.value === null) return "";
  if (tightest.value >= Math.max(target, config.loss_bound - target)) return "No bound is informative yet.";
  return `The tightest bound: ${describeDistance(tightest, target)} (${tightest.name}).`;
}

/** @param {StreamSummary} summary */
export function showVerdict(summary) {
  byId("verdict").dataset.state = verdictState(summary.verdict);
  setText(byId("verdict-text"), summary.verdict.text);
  setText(byId("tightest"), describeTightest(summary));
  updateList(byId("warnings"), summary.warnings, (text) => text, createItem, setText);
}

function createItem() {
  return document.createElement("li");
}
