// How a stream is: its status and verdict as one word, one shape and one colour, and the sentence that explains it.

import { formatDuration, formatMoment, formatNumber } from "./format.js";

/** @import { Health, StreamListItem } from "../wire" */

/** @typedef {"broken" | "drifting" | "stale" | "recovered" | "ok" | "unknown"} Tone */
/** @typedef {Pick<StreamListItem, "consistent" | "health" | "verdict">} Judged */

/** @type {readonly ("broken" | "drifting" | "stale" | "recovered" | "ok")[]} */
export const STATUSES = ["broken", "drifting", "stale", "recovered", "ok"]; // worst first

/**
 * How a stream is shown. Only one that keeps its promise, as far as anybody can tell, is "ok".
 * @param {Judged} stream
 * @returns {{tone: Tone, word: string}}
 */
export function badgeOf({ consistent, health, verdict }) {
  if (!consistent) return { tone: "broken", word: "check failed" };
  if (health.status !== "ok") return { tone: health.status, word: health.status };
  if (verdict.state === "too early") return { tone: "unknown", word: "too early" };
  if (verdict.state === "kept" || verdict.state === "cautious") return { tone: "ok", word: "ok" };
  return { tone: "drifting", word: verdict.state };
}

/**
 * What is wrong with a stream, or that nothing is, as short as possible.
 * @param {Judged} stream
 */
export function headlineOf({ consistent, health, verdict }) {
  if (!consistent) return "Consistency check failed: do not rely on its thresholds.";
  if (health.status === "ok") return verdict.text;
  const where = (health.group ?? null) === null ? "" : ` in ${health.group}`;
  if (health.status === "stale") return `No feedback${where}.`;
  if (health.status === "recovered") return `Was broken${where}; the risk is back near its target.`;
  const risk = health.status === "broken" ? health.risk : health.recent_risk;
  const which = health.status === "broken" ? "risk" : "recent risk";
  return `The ${which}${where} is ${formatNumber(risk)}, target ${formatNumber(health.target)}.`;
}

/**
 * Since when: how long ago and at what time.
 * @param {Pick<Health, "since" | "status">} health
 * @param {number} now in seconds since 1970
 */
export function describeSince({ since, status }, now = Date.now() / 1000) {
  if (since === null || status === "ok") return "";
  return `for ${formatDuration(now - since)}, since ${formatMoment(since)}`;
}

/**
 * Show a badge: its colour and shape follow from the tone, in the style sheet.
 * @param {HTMLElement} badge
 * @param {{tone: Tone, word: string}} shown
 */
export function showBadge(badge, { tone, word }) {
  badge.dataset.tone = tone;
  if (badge.textContent !== word) badge.textContent = word;
}
