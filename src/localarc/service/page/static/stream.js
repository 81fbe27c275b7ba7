// One stream: read once, then kept up to date by its events.

import { hideAlert, showAlert } from "./alerts.js";
import { ApiError, fetchJson, sleep, streamPath } from "./api.js";
import { Chart } from "./chart.js";
import { feedbackFigure, groupFigure, MAX_GROUPS, riskDomain, riskFigure, scatterFigure } from "./charts.js";
import { showConnection } from "./connection.js";
import { byId, setText } from "./dom.js";
import { followEvents } from "./events.js";
import { formatBytes, formatCount, formatDuration, formatNumber, formatRisk } from "./format.js";
import { showGuarantee } from "./guarantee.js";
import { extendHistory, readHistory, recentHistory } from "./history.js";
import { describeSettings, isLocal } from "./settings.js";
import { Store, throttle } from "./store.js";
import { ThresholdMapView } from "./threshold_map.js";
import { showVerdict } from "./verdict.js";

/** @import { History } from "./history.js" */
/** @import { StreamEvent, StreamSummary } from "../wire" */

/**
 * `latest` has the counters of the newest summary or event: both carry them.
 * @typedef {Pick<StreamSummary, "seq" | "rounds" | "risk" | "pending" | "late" | "expired">} Counters
 * @typedef {{summary: StreamSummary, history: History, latest: Counters}} StreamState
 */

const DRAW_INTERVAL = 700; // milliseconds
const POLL_INTERVAL = 5_000;

const range = /** @type {HTMLSelectElement} */ (byId("range"));
const charts = {
  risk: new Chart(byId("risk-chart")),
  threshold: new Chart(byId("threshold-chart")),
  size: new Chart(byId("size-chart")),
  feedback: new Chart(byId("feedback-chart")),
  group: new Chart(byId("group-chart")),
  map: new Chart(byId("map-chart")),
};

/**
 * @param {string} name
 * @param {AbortSignal} signal
 */
export async function showStream(name, signal) {
  document.title = `${name} · localarc`;
  setText(byId("name"), name);
  const first = await readFirst(name, signal);
  if (first === null) return;
  const store = new Store(first);
  connectViews(store, signal);
  pollSummary(name, store, signal);
  await followEvents(name, first.history.seq, signal, {
    onEvent: (event) => store.set(applyEvent(store.state, event)),
    onOpen: () => showConnection("live"),
    onLost: (error) => showConnection("lost", error),
  });
}

/**
 * Read what events do not carry: bounds, groups, whether the stream is consistent; and the history
 * where it changed, for its bounds. A failure is ignored: the event connection reports it.
 * @param {string} name
 * @param {Store<StreamState>} store
 * @param {AbortSignal} signal
 */
async function pollSummary(name, store, signal) {
  while (!signal.aborted) {
    await sleep(POLL_INTERVAL, signal);
    const summary = await fetchJson(streamPath(name), { signal }).catch(() => null);
    if (summary === null) continue;
    if (summary.seq === store.state.summary.seq) {
      store.set({ summary });
      continue;
    }
    const response = await fetchJson(streamPath(name, "history"), { signal }).catch(() => null);
    if (response === null) continue;
    const isOvertaken = response.seq < store.state.latest.seq; // by events
    store.set(isOvertaken ? { summary } : { summary, history: readHistory(response), latest: summary });
  }
}

/**
 * Read a stream until it works: the service may be starting.
 * @param {string} name
 * @param {AbortSignal} signal
 */
async function readFirst(name, signal) {
  while (!signal.aborted) {
    try {
      return await read(name, signal);
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof ApiError ? !error.isTemporary : !(error instanceof TypeError)) throw error;
      showConnection("lost", error);
      await sleep(1_000, signal);
    }
  }
  return null;
}

/**
 * @param {string} name
 * @param {AbortSignal} signal
 * @returns {Promise<StreamState>}
 */
async function read(name, signal) {
  const [summary, history] = await Promise.all([
    fetchJson(streamPath(name), { signal }),
    fetchJson(streamPath(name, "history"), { signal }),
  ]);
  return { summary, history: readHistory(history), latest: summary };
}

/**
 * What an event changes.
 * @param {StreamState} state
 * @param {StreamEvent} event
 * @returns {Partial<StreamState>}
 */
function applyEvent({ history, latest }, event) {
  if (event.kind === "reset" || event.seq <= latest.seq) return {};
  return { history: extendHistory(history, event), latest: event };
}

/**
 * Draw everything now, and again what changes.
 * @param {Store<StreamState>} store
 * @param {AbortSignal} signal
 */
function connectViews(store, signal) {
  const map = new ThresholdMapView(charts.map, store.state.summary, signal);
  const drawCharts = throttle(() => drawHistory(store.state), DRAW_INTERVAL, signal);
  let _frame = 0;
  store.subscribe(["latest"], () => {
    _frame ||= requestAnimationFrame(() => {
      _frame = 0;
      if (!signal.aborted) drawCounters(store.state.latest);
    });
  });
  store.subscribe(["history"], drawCharts);
  range.onchange = () => drawHistory(store.state);
  store.subscribe(["summary"], () => {
    drawSummary(store.state.summary);
    map.update(store.state.summary);
  });
  drawCounters(store.state.latest);
  drawSummary(store.state.summary);
  drawCharts();
}

/** @param {Counters} latest */
function drawCounters(latest) {
  setText(byId("risk"), formatRisk(latest.risk));
  setText(byId("rounds"), formatCount(latest.rounds));
  setText(byId("pending"), formatCount(latest.pending));
  setText(byId("late"), formatCount(latest.late));
  setText(byId("expired"), formatCount(latest.expired));
}

/** @param {StreamSummary} summary */
function drawSummary(summary) {
  showVerdict(summary);
  const passed = showGuarantee(byId("guarantee"), summary);
  if (passed) hideAlert("guarantee");
  else showAlert("guarantee", "Consistency check failed.", `Do not rely on ${summary.stream}: see below.`);
  setText(byId("target"), formatNumber(summary.target));
  setText(byId("settings"), describeSettings(summary));
  setText(byId("oldest"), describeOldest(summary.oldest_pending));
  setText(byId("memory"), formatBytes(summary.memory_bytes));
  drawGroups(summary);
}

/** @param {StreamSummary} summary */
function drawGroups({ groups, target, config }) {
  const omitted = groups.length - MAX_GROUPS;
  if (groups.length === 0) charts.group.drawEmpty("Send a group with each prediction to compare groups.");
  else charts.group.draw(groupFigure(groups, target, config.loss_bound));
  setText(
    byId("group-note"),
    groups.length === 0
      ? ""
      : "Mean loss per group. Dashed: target. Whiskers: at most one standard error, assuming independent rounds." +
          (omitted > 0 ? ` ${formatCount(omitted)} groups with lower risk are not shown.` : ""),
  );
}

/** @param {StreamState} state */
function drawHistory({ history: whole, summary }) {
  const history = recentHistory(whole, Number(range.value));
  if (history.points.length === 0) {
    for (const chart of [charts.risk, charts.threshold, charts.feedback]) {
      chart.drawEmpty("Waiting for the first feedback.");
    }
    charts.size.drawEmpty("No prediction set was requested yet.");
    return;
  }
  charts.risk.draw(riskFigure(history, summary.config.loss_bound));
  setText(byId("bound-note"), describeHiddenBound(history));
  charts.threshold.draw(scatterFigure(history, "threshold", "Threshold"));
  setText(
    byId("threshold-note"),
    "Dots: rounds. Line: mean of nearby rounds." +
      (isLocal(summary.config) ? " Dots scatter because the threshold depends on the input." : ""),
  );
  charts.feedback.draw(feedbackFigure(history));
  const hasSizes = history.points.some((point) => point.size !== null);
  if (hasSizes) charts.size.draw(scatterFigure(history, "size", "Set size"));
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
 * @param {History} history
 */
function describeHiddenBound(history) {
  const bound = history.points.at(-1)?.bound ?? null;
  if (bound === null || history.target + bound <= riskDomain(history)[1]) return "";
  return `The bound for any input sequence, currently ±${formatNumber(bound)}, lies outside the visible range.`;
}
