// The streams, worst first, one page at a time; searched and sorted by the service, read every two seconds.

import { formatAddress } from "./address.js";
import { hideAlert, showAlert } from "./alerts.js";
import { ApiError, createInterrupt, fetchJson, sleep } from "./api.js";
import { showConnection } from "./connection.js";
import { byId, child, clone, setText, updateList } from "./dom.js";
import { describeLabels, formatCount, formatNumber, formatRisk } from "./format.js";
import { badgeOf, describeSince, headlineOf, STATUSES, showBadge } from "./status.js";

/** @import { Address } from "./address.js" */
/** @import { StreamList, StreamListItem } from "../wire" */

const POLL_INTERVAL = 2_000;
const PAGE_SIZE = 50;
const MAX_NAMES = 5; // in an alert
const search = /** @type {HTMLInputElement} */ (byId("search"));

/**
 * @param {Address} address
 * @param {AbortSignal} signal
 */
export async function showOverview(address, signal) {
  let view = address;
  const typing = createInterrupt(signal);
  search.value = view.search;
  search.oninput = () => {
    view = { ...view, search: search.value, cursor: "" };
    history.replaceState(null, "", formatAddress(view));
    typing.interrupt(); // a response on its way is out of date
  };
  while (!signal.aborted) {
    const either = typing.signal();
    try {
      const list = await fetchJson(`v1/streams?${query(view)}`, { signal: either });
      draw(list, view);
      showConnection("live");
    } catch (error) {
      if (signal.aborted) return;
      if (either.aborted) continue;
      if (error instanceof ApiError && !error.isTemporary) throw error;
      if (!(error instanceof ApiError || error instanceof TypeError)) throw error;
      showConnection("lost", error);
    }
    await sleep(POLL_INTERVAL, either);
  }
}

/** @param {Address} view */
function query({ search, status, cursor }) {
  const given = Object.entries({ search, status, cursor }).filter(([, value]) => value);
  return new URLSearchParams([["sort", "worst"], ["limit", String(PAGE_SIZE)], ...given]);
}

/**
 * @param {StreamList} list
 * @param {Address} view
 */
function draw(list, view) {
  const { streams } = list;
  const failed = streams.filter((stream) => !stream.consistent);
  alertAbout(failed, "guarantee", "Consistency check failed.", "Do not rely on:");
  alertAbout(list.quarantined, "quarantine", "Not served, because stored data is damaged:", "");
  const headline = describeAll(list, view.search);
  setText(byId("streams-title"), headline);
  document.title = `${headline} · localarc`;
  drawStatuses(list, view);
  drawPages(list, view);
  const isFiltered = Boolean(view.search || view.status || view.cursor);
  byId("no-streams").hidden = streams.length > 0 || isFiltered;
  byId("none-found").hidden = streams.length > 0 || !isFiltered;
  updateList(byId("streams"), streams, (stream) => stream.stream, createRow, updateRow);
  if (performance.getEntriesByName("rows").length === 0) performance.mark("rows");
}

/**
 * Name the streams with a problem, or the first of them.
 * @param {{stream: string}[]} streams
 * @param {string} kind
 * @param {string} title
 * @param {string} text
 */
function alertAbout(streams, kind, title, text) {
  const names = streams.slice(0, MAX_NAMES).map(({ stream }) => stream);
  if (streams.length > MAX_NAMES) names.push(`and ${formatCount(streams.length - MAX_NAMES)} more`);
  if (streams.length) showAlert(kind, title, `${text} ${names.join(", ")}.`.trim());
  else hideAlert(kind);
}

/**
 * The worst status that a stream has, and how many have it.
 * @param {Pick<StreamList, "statuses">} list
 * @param {string} search
 */
export function describeAll({ statuses }, search) {
  const total = countAll(statuses);
  const what = `stream${total === 1 ? "" : "s"}${search && ` with “${search}”`}`;
  if (total === 0) return `No ${what}`;
  const bad = STATUSES.filter((status) => status !== "ok" && statuses[status] > 0);
  if (bad.length === 0) return total === 1 ? `The ${what} is ok` : `All ${formatCount(total)} ${what} are ok`;
  const counts = bad.map((status) => `${formatCount(statuses[status])} ${status}`).join(", ");
  return `${counts} of ${formatCount(total)} ${what}`;
}

/** @param {StreamList["statuses"]} statuses */
const countAll = (statuses) => STATUSES.reduce((sum, status) => sum + statuses[status], 0);

/**
 * One link per status, with the number of streams that have it.
 * @param {StreamList} list
 * @param {Address} view
 */
function drawStatuses({ statuses }, { search, status: selected }) {
  for (const link of byId("statuses").querySelectorAll("a")) {
    const status = /** @type {"" | typeof STATUSES[number]} */ (link.dataset.tone ?? "");
    link.setAttribute("href", formatAddress({ search, status }));
    if (status === selected) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    setText(child(link, "b"), formatCount(status ? statuses[status] : countAll(statuses)));
  }
}

/**
 * @param {StreamList} list
 * @param {Address} view
 */
function drawPages({ first, found, streams, previous, next }, view) {
  byId("pages").hidden = previous === null && next === null;
  setText(
    byId("position"),
    `${formatCount(Math.min(found, first + 1))} to ${formatCount(first + streams.length)} of ${formatCount(found)}`,
  );
  setLink(byId("previous"), previous, view);
  setLink(byId("next"), next, view);
}

/**
 * A link to another page, or none.
 * @param {HTMLElement} link
 * @param {string | null} cursor
 * @param {Address} view
 */
function setLink(link, cursor, { search, status }) {
  if (cursor === null) link.removeAttribute("href");
  else link.setAttribute("href", formatAddress({ search, status, cursor }));
}

const createRow = () => clone("stream-row");

/**
 * @param {HTMLElement} row
 * @param {StreamListItem} stream
 */
function updateRow(row, stream) {
  /** @type {(selector: string, text: string) => void} */
  const set = (selector, text) => setText(child(row, selector), text);
  const badge = badgeOf(stream);
  const risk = stream.health.recent_risk ?? stream.risk;
  row.dataset.tone = badge.tone;
  showBadge(child(row, ".badge"), badge);
  child(row, "a").setAttribute("href", formatAddress({ stream: stream.stream }));
  set(".name", stream.stream);
  set(".why", [headlineOf(stream), ...stream.warnings].join(" "));
  set(".since", describeSince(stream.health));
  set(".risk", formatRisk(risk));
  set(".target", `target ${formatNumber(stream.target)}`);
  const counts = `${formatCount(stream.rounds)} rounds · ${formatCount(stream.pending)} pending`;
  set(".counts", [counts, describeLabels(stream.labels)].filter(Boolean).join(" · "));
  const share = Math.min(2, (risk ?? 0) / stream.target); // the target is in the middle
  child(row, ".meter").style.setProperty("--risk", String(share));
}
