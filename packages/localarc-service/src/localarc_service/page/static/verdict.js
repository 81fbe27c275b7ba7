// One stream in words: why, since when, the warnings and the tightest bound.

import { byId, setText, updateList } from "./dom.js";
import { describeDistance } from "./guarantee.js";
import { lossBound } from "./settings.js";
import { badgeOf, describeSince, headlineOf, showBadge } from "./status.js";

/** @import { StreamSummary } from "../wire" */

/** @param {StreamSummary} summary */
export function describeTightest({ certificate, config, target }) {
  const { tightest } = certificate;
  if (!certificate.consistent || tightest === null || tightest.value === null) return "";
  if (tightest.value >= Math.max(target, lossBound(config) - target)) return "No bound is informative yet.";
  return `The tightest bound: ${describeDistance(tightest, target)} (${tightest.name}).`;
}

/** @param {StreamSummary} summary */
export function showVerdict(summary) {
  const badge = badgeOf(summary);
  byId("stream").dataset.tone = badge.tone;
  showBadge(byId("status"), badge);
  setText(byId("since"), describeSince(summary.health));
  const isAlarm = summary.health.status !== "ok";
  setText(byId("headline"), headlineOf(summary));
  setText(byId("why"), isAlarm ? summary.health.why : "");
  setText(byId("verdict-text"), isAlarm ? `Over all rounds: ${summary.verdict.text}` : "");
  setText(byId("tightest"), isAlarm ? "" : describeTightest(summary)); // no comfort beside an alarm
  updateList(byId("warnings"), summary.warnings, (text) => text, createItem, setText);
}

function createItem() {
  return document.createElement("li");
}
