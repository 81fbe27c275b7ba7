// All streams, one card each, polled every two seconds.

import { hideAlert, showAlert } from "./alerts.js";
import { ApiError, fetchJson, sleep } from "./api.js";
import { showConnection } from "./connection.js";
import { byId, child, setText, updateList } from "./dom.js";
import { formatCount, formatNumber, formatRisk } from "./format.js";
import { verdictState } from "./verdict.js";

/** @import { StreamListItem } from "../wire" */

const POLL_INTERVAL = 2_000;
const SEARCH_FROM = 12; // streams from which a search field is useful
const list = byId("streams");
const search = /** @type {HTMLInputElement} */ (byId("search"));
const template = /** @type {HTMLTemplateElement} */ (byId("stream-card"));

/** @param {AbortSignal} signal */
export async function showOverview(signal) {
  document.title = "localarc";
  search.oninput = filter;
  while (!signal.aborted) {
    try {
      const { streams } = await fetchJson("v1/streams", { signal });
      draw(streams);
      showConnection("live");
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !error.isTemporary) throw error;
      if (!(error instanceof ApiError || error instanceof TypeError)) throw error;
      showConnection("lost", error);
    }
    await sleep(POLL_INTERVAL, signal);
  }
}

/** @param {StreamListItem[]} streams */
function draw(streams) {
  const failed = streams.filter((stream) => !stream.healthy);
  const names = failed.map((stream) => stream.stream).join(", ");
  if (failed.length) showAlert("guarantee", "Consistency check failed.", `Do not rely on: ${names}.`);
  else hideAlert("guarantee");
  setText(byId("overview-summary"), totals(streams));
  byId("no-streams").hidden = streams.length > 0;
  search.hidden = streams.length < SEARCH_FROM;
  const ordered = [...failed, ...streams.filter((stream) => stream.healthy)];
  updateList(list, ordered, (stream) => stream.stream, createCard, updateCard);
  filter();
}

/** @param {StreamListItem[]} streams */
function totals(streams) {
  const rounds = streams.reduce((sum, stream) => sum + stream.rounds, 0);
  const pending = streams.reduce((sum, stream) => sum + stream.pending, 0);
  const plural = streams.length === 1 ? "" : "s";
  return `${formatCount(streams.length)} stream${plural} · ${formatCount(rounds)} rounds · ${formatCount(pending)} pending`;
}

function createCard() {
  return /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
}

/**
 * @param {HTMLElement} card
 * @param {StreamListItem} stream
 */
function updateCard(card, stream) {
  /** @type {(selector: string, text: string) => void} */
  const set = (selector, text) => setText(child(card, selector), text);
  card.classList.toggle("failed", !stream.healthy);
  child(card, "a").setAttribute("href", `#${encodeURIComponent(stream.stream)}`);
  set(".name", stream.stream);
  set(".state", stream.healthy ? "" : "check failed");
  set(".verdict-line", [stream.verdict.text, ...stream.warnings].join(" "));
  child(card, ".verdict-line").dataset.state = stream.warnings.length
    ? "failed"
    : verdictState(stream.verdict);
  set(".risk", formatRisk(stream.risk));
  set(".target", `target ${formatNumber(stream.target)}`);
  set(
    ".counts",
    `${formatCount(stream.rounds)} rounds · ${formatCount(stream.pending)} pending · ${formatCount(stream.late)} late`,
  );
  const share = Math.min(2, (stream.risk ?? 0) / stream.target); // the target is in the middle
  child(card, ".meter").style.setProperty("--risk", String(share));
}

function filter() {
  const wanted = search.value.toLowerCase();
  for (const card of list.children) {
    const name = child(card, ".name").textContent ?? "";
    card.toggleAttribute("hidden", !name.toLowerCase().includes(wanted));
  }
}
