// The state of one stream in words: why, since when, the warnings and the tightest bound.

import { byId, setText, updateList } from "./dom.js";
import { describeDistance } from "./guarantee.js";
import { describeSince, reasonOf, showBadge, stateOf } from "./state.js";

/** @import { StreamSummary } from "../wire" */

/** @param {StreamSummary} summary */
export function describeTightest({ certificate, config, target }) {
  const { tightest } = certificate;
  if (!certificate.consistent || tightest === null || tightest.value === null) return "";
  if (tightest.value >= Math.max(target, config.loss_bound - target)) return "No bound is informative yet.";
  return `The tightest bound: ${describeDistance(tightest, target)} (${tightest.name}).`;
}

/** @param {StreamSummary} summary */
export function showVerdict(summary) {
  const state = stateOf(summary);
  byId("stream").dataset.tone = state.tone;
  showBadge(byId("state"), state);
  setText(byId("since"), describeSince(summary.health));
  const reason = reasonOf(summary);
  setText(byId("why"), reason);
  setText(byId("verdict-text"), reason === summary.verdict.text ? "" : summary.verdict.text);
  setText(byId("tightest"), describeTightest(summary));
  updateList(byId("warnings"), summary.warnings, (text) => text, createItem, setText);
}

function createItem() {
  return document.createElement("li");
}
