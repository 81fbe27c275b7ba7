// What is shown of one stream: its status, its numbers, its charts; each drawn when it changes.

import { offerAcknowledgement } from "./acknowledge.js";
import { formatAddress } from "./address.js";
import { hideAlert, showAlert } from "./alerts.js";
import { Chart } from "./chart.js";
import { feedbackFigure, recentRiskFigure, riskDomain, riskFigure, scatterFigure } from "./charts.js";
import { byId, setText } from "./dom.js";
import { showEvents } from "./event_list.js";
import {
  describeLabels,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatRisk,
} from "./format.js";
import { showGroups } from "./groups.js";
import { showGuarantee } from "./guarantee.js";
import { connectRange, showRange } from "./range.js";
import { alarmMarks, rangeAround, sectionOf } from "./section.js";
import { describeSettings, isLocal, lossBound } from "./settings.js";
import { throttle } from "./store.js";
import { ThresholdMapView } from "./threshold_map.js";
import { showVerdict } from "./verdict.js";

/** @import { Section } from "./charts.js" */
/** @import { Store } from "./store.js" */
/** @import { Counters, StreamState } from "./stream.js" */
/** @import { StreamSummary } from "../wire" */

const DRAW_INTERVAL = 700; // milliseconds

const charts = {
  recent: new Chart(byId("recent-chart")),
  risk: new Chart(byId("risk-chart")),
  threshold: new Chart(byId("threshold-chart")),
  size: new Chart(byId("size-chart")),
  feedback: new Chart(byId("feedback-chart")),
  map: new Chart(byId("map-chart")),
};

/**
 * Draw everything now, and again what changes.
 * @param {Store<StreamState>} store
 * @param {AbortSignal} signal
 * @param {() => void} readAgain
 */
export function connectViews(store, signal, readAgain) {
  const map = new ThresholdMapView(charts.map, store.state.summary, signal);
  const draw = {
    counters: throttle(() => drawCounters(store.state.latest), 50, signal),
    history: throttle(() => drawHistory(store.state), DRAW_INTERVAL, signal),
    events: throttle(() => drawEvents(store.state), DRAW_INTERVAL, signal),
    summary: () => {
      drawSummary(store.state);
      offerAcknowledgement(store.state.summary, readAgain, signal);
      map.update(store.state.summary);
    },
  };
  store.subscribe(["latest"], draw.counters);
  store.subscribe(["history"], draw.history);
  store.subscribe(["events", "summary"], draw.events);
  store.subscribe(["summary"], draw.summary);
  const shown = () => sectionOf(store.state).span;
  connectRange(store.state.address, shown, (changes) => {
    const address = { ...store.state.address, ...changes };
    history.pushState(null, "", formatAddress(address));
    store.set({ address });
    showRange(address, shown);
    drawHistory(store.state);
  });
  for (const each of Object.values(draw)) each();
}

/** @param {StreamState} state */
const drawEvents = ({ events, summary, address }) => showEvents(events, summary, address.group);

/** @param {Counters} latest */
function drawCounters(latest) {
  setText(byId("risk"), formatRisk(latest.risk));
  setText(byId("rounds"), formatCount(latest.rounds));
  setText(byId("pending"), formatCount(latest.pending));
  setText(byId("late"), formatCount(latest.late));
  setText(byId("expired"), formatCount(latest.expired));
}

/** @param {StreamState} state */
function drawSummary({ summary, history, address }) {
  showVerdict(summary);
  linkToAlarm(summary, history.points, byId("show-alarm"));
  const passed = showGuarantee(byId("guarantee"), summary);
  if (passed) hideAlert("guarantee");
  else showAlert("guarantee", "Consistency check failed.", `Do not rely on ${summary.stream}: see below.`);
  setText(byId("recent"), formatRisk(summary.overall.recent_risk));
  setText(byId("window"), `last ${formatCount(Math.min(summary.overall.window, summary.rounds))} rounds`);
  setText(byId("target"), formatNumber(summary.target));
  setText(byId("settings"), describeSettings(summary));
  setText(byId("labels"), describeLabels(summary.config.labels));
  byId("labels").hidden = Object.keys(summary.config.labels).length === 0;
  setText(byId("oldest"), describeOldest(summary.oldest_pending));
  setText(byId("memory"), formatBytes(summary.memory_bytes));
  showGroups(summary, address.group);
}

/**
 * A link to the charts around the moment of the alarm.
 * @param {StreamSummary} summary
 * @param {StreamState["history"]["points"]} points
 * @param {HTMLElement} link
 */
function linkToAlarm({ stream, health }, points, link) {
  const since = health.status === "ok" ? null : health.since;
  link.hidden = since === null || points.length === 0;
  if (since === null || points.length === 0) return;
  const group = health.group ?? "";
  link.setAttribute("href", formatAddress({ stream, group, ...rangeAround(points, since) }));
}

/** @param {StreamState} state */
function drawHistory(state) {
  const { summary, history } = state;
  const section = sectionOf(state);
  if (section.points.length === 0) {
    const reason = history.points.length
      ? "No feedback in this time range."
      : "Waiting for the first feedback.";
    for (const chart of [charts.recent, charts.risk, charts.threshold, charts.size, charts.feedback]) {
      chart.drawEmpty(reason);
    }
    return;
  }
  const { tolerance } = summary.overall;
  charts.recent.draw(recentRiskFigure(section, section.windowed, tolerance, alarmMarks(state)));
  charts.risk.draw(riskFigure(section, lossBound(summary.config)));
  setText(byId("bound-note"), describeHiddenBound(section));
  charts.threshold.draw(scatterFigure(section, "threshold", "Threshold"));
  setText(
    byId("threshold-note"),
    "Dots: rounds. Line: mean of nearby rounds." +
      (isLocal(summary.config) ? " Dots scatter because the threshold depends on the input." : ""),
  );
  charts.feedback.draw(feedbackFigure(section));
  drawSizes(section);
}

/** @param {Section} section */
function drawSizes(section) {
  const hasSizes = section.points.some((point) => point.size !== null);
  if (hasSizes) charts.size.draw(scatterFigure(section, "size", "Set size"));
  else charts.size.drawEmpty("Send scores with each prediction to see set sizes.");
  setText(
    byId("size-note"),
    hasSizes ? "Dots: rounds. Line: mean of nearby rounds. Smaller sets are more informative." : "",
  );
}

/** @param {number | null} oldest */
const describeOldest = (oldest) =>
  oldest === null ? "waiting for feedback" : `oldest: ${formatDuration(Date.now() / 1000 - oldest)}`;

/**
 * Say where the bound for any inputs is if the chart does not reach as far.
 * @param {Section} section
 */
function describeHiddenBound(section) {
  const bound = section.points.at(-1)?.bound ?? null;
  if (bound === null || section.target + bound <= riskDomain(section)[1]) return "";
  return `The bound for any input sequence, currently ±${formatNumber(bound)}, lies outside the visible range.`;
}
