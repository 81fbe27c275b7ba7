// The state of a stream: one word, one shape and one colour, and the sentence that explains it.

import { formatDuration, formatMoment, formatNumber } from "./format.js";

/** @import { Health, StreamListItem } from "../wire" */

/** @typedef {"broken" | "drifting" | "stale" | "recovered" | "ok" | "unknown"} Tone */
/** @typedef {Pick<StreamListItem, "healthy" | "health" | "verdict">} Judged */

/** @type {readonly ("broken" | "drifting" | "stale" | "recovered" | "ok")[]} */
export const STATES = ["broken", "drifting", "stale", "recovered", "ok"]; // worst first

/**
 * How a stream is shown. Only one that keeps its promise, as far as anybody can tell, is "ok".
 * @param {Judged} stream
 * @returns {{tone: Tone, word: string}}
 */
export function stateOf({ healthy, health, verdict }) {
  if (!healthy) return { tone: "broken", word: "check failed" };
  if (health.state !== "ok") return { tone: health.state, word: health.state };
  if (verdict.state === "too early") return { tone: "unknown", word: "too early" };
  if (verdict.state === "kept" || verdict.state === "cautious") return { tone: "ok", word: "ok" };
  return { tone: "drifting", word: verdict.state };
}

/**
 * What is wrong with a stream, or that nothing is, as short as possible.
 * @param {Judged} stream
 */
export function headlineOf({ healthy, health, verdict }) {
  if (!healthy) return "Consistency check failed: do not rely on its thresholds.";
  if (health.state === "ok") return verdict.text;
  const where = (health.group ?? null) === null ? "" : ` in ${health.group}`;
  if (health.state === "stale") return `No feedback${where}.`;
  if (health.state === "recovered") return `Was broken${where}; the risk is back near its target.`;
  const risk = health.state === "broken" ? health.risk : health.recent_risk;
  const which = health.state === "broken" ? "risk" : "recent risk";
  return `The ${which}${where} is ${formatNumber(risk)}, target ${formatNumber(health.target)}.`;
}

/**
 * Since when: how long ago and at what time.
 * @param {Pick<Health, "since" | "state">} health
 * @param {number} now in seconds since 1970
 */
export function describeSince({ since, state }, now = Date.now() / 1000) {
  if (since === null || state === "ok") return "";
  return `for ${formatDuration(now - since)}, since ${formatMoment(since)}`;
}

/**
 * Show a state in a badge: its colour and shape follow from the tone, in the style sheet.
 * @param {HTMLElement} badge
 * @param {{tone: Tone, word: string}} state
 */
export function showBadge(badge, { tone, word }) {
  badge.dataset.tone = tone;
  if (badge.textContent !== word) badge.textContent = word;
}
