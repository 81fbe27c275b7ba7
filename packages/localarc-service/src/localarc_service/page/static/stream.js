// One stream: read once, then kept up to date by its events.

import { ApiError, createInterrupt, fetchJson, sleep, streamPath } from "./api.js";
import { showConnection } from "./connection.js";
import { byId, setText } from "./dom.js";
import { rememberEvent } from "./event_list.js";
import { followEvents } from "./events.js";
import { extendHistory, readHistory } from "./history.js";
import { Store } from "./store.js";
import { connectViews } from "./stream_view.js";

/** @import { Address } from "./address.js" */
/** @import { Change } from "./event_list.js" */
/** @import { History } from "./history.js" */
/** @import { StreamEvent, StreamSummary } from "../wire" */

/**
 * `latest` has the counters of the newest summary or event: both carry them.
 * @typedef {Pick<StreamSummary, "seq" | "rounds" | "risk" | "pending" | "late" | "expired">} Counters
 * @typedef {{summary: StreamSummary, history: History, latest: Counters}} Read
 * @typedef {Read & {events: readonly Change[], address: Address}} StreamState
 */

const POLL_INTERVAL = 5_000; // milliseconds
const ALARMS = new Set(["health", "acknowledged"]); // after which the summary is read at once
const PAST_EVENTS = 100; // listed from the start, if the service remembers that many

/**
 * @param {Address} address
 * @param {AbortSignal} signal
 */
export async function showStream(address, signal) {
  const name = address.stream;
  document.title = `${name} · localarc`;
  const first = await readFirst(name, signal);
  if (first === null) return;
  reveal(name);
  const store = new Store(/** @type {StreamState} */ ({ ...first, events: [], address }));
  const polling = createInterrupt(signal);
  connectViews(store, signal, polling.interrupt);
  pollSummary(name, store, signal, polling.signal);
  await followEvents(name, Math.max(0, first.history.seq - PAST_EVENTS), signal, {
    onEvent: (event) => {
      if (ALARMS.has(event.kind) && event.seq > store.state.summary.seq) polling.interrupt();
      store.set(applyEvent(store.state, event));
    },
    onOpen: () => showConnection("live"),
    onLost: (error) => showConnection("lost", error),
  });
}

/**
 * Show the view once it is about this stream, and give it the focus that went with the link.
 * @param {string} name
 */
function reveal(name) {
  const view = byId("stream");
  const isNew = view.dataset.name !== name;
  view.dataset.name = name;
  view.hidden = false;
  setText(byId("name"), name);
  if (isNew && document.activeElement === document.body) byId("name").focus({ preventScroll: true });
}

/**
 * Read what events do not carry: bounds, groups, statuses; and the history where it changed, for its
 * bounds. A failure is ignored: the event connection reports it.
 * @param {string} name
 * @param {Store<StreamState>} store
 * @param {AbortSignal} signal
 * @param {() => AbortSignal} pause
 */
async function pollSummary(name, store, signal, pause) {
  while (!signal.aborted) {
    await sleep(POLL_INTERVAL, pause());
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
 * @returns {Promise<Read>}
 */
async function read(name, signal) {
  const [summary, history] = await Promise.all([
    fetchJson(streamPath(name), { signal }),
    fetchJson(streamPath(name, "history"), { signal }),
  ]);
  return { summary, history: readHistory(history), latest: summary };
}

/**
 * What an event changes; one that is older than the summary is only listed.
 * @param {StreamState} state
 * @param {StreamEvent} event
 * @returns {Partial<StreamState>}
 */
function applyEvent({ history, latest, events }, event) {
  const listed = { events: rememberEvent(events, event) };
  if (event.kind === "reset" || event.seq <= latest.seq) return listed;
  return { ...listed, history: extendHistory(history, event), latest: event };
}
