// The latest events of a stream, newest first. Alarms stay longer than losses, of which there are many.

import { byId, child, clone, setText, updateList } from "./dom.js";
import { formatMoment, formatNumber } from "./format.js";

/** @import { StreamEvent } from "../wire" */

/** @typedef {Exclude<StreamEvent, {kind: "reset"}>} Change */

export const MAX_KEPT = 100; // losses, and as many other events
const MAX_SHOWN = 15;
const FREQUENT = new Set(["feedback", "audited"]);

/**
 * The events that are kept after another one, newest first. Predictions are not: they say nothing
 * until their loss arrives.
 * @param {readonly Change[]} events
 * @param {StreamEvent} event
 * @returns {readonly Change[]}
 */
export function rememberEvent(events, event) {
  if (event.kind === "reset" || event.kind === "predicted") return events;
  if (events.some(({ seq, kind }) => seq === event.seq && kind === event.kind)) return events;
  const all = [event, ...events].sort((one, other) => other.seq - one.seq);
  return latestOfBoth(all, MAX_KEPT);
}

/**
 * The first losses and the first other events, in their order.
 * @param {Change[]} events
 * @param {number} count of each
 */
function latestOfBoth(events, count) {
  let losses = 0;
  let others = 0;
  return events.filter(({ kind }) => (FREQUENT.has(kind) ? ++losses : ++others) <= count);
}

/**
 * Whether an event concerns a group.
 * @param {Change} event
 * @param {string} group
 */
export function concerns(event, group) {
  const named = "group" in event ? (event.group ?? null) : null;
  return named === null ? !FREQUENT.has(event.kind) : [named].flat().includes(group);
}

/**
 * @param {readonly Change[]} events
 * @param {string} group the one that is selected, or ""
 */
export function showEvents(events, group) {
  const found = group ? events.filter((event) => concerns(event, group)) : [...events];
  const shown = latestOfBoth(found, MAX_SHOWN);
  byId("no-events").hidden = shown.length > 0;
  updateList(byId("events"), shown, ({ seq, kind }) => `${seq} ${kind}`, createRow, updateRow);
}

const createRow = () => clone("event-row");

/**
 * @param {HTMLElement} row
 * @param {Change} event
 */
function updateRow(row, event) {
  if (event.kind === "health") row.dataset.tone = event.state;
  setText(child(row, "time"), formatMoment(event.at));
  setText(child(row, "span"), describeEvent(event));
}

/**
 * What happened, in one line.
 * @param {Change} event
 */
export function describeEvent(event) {
  switch (event.kind) {
    case "created":
      return "The stream was created.";
    case "feedback":
      return `Loss ${formatNumber(event.loss)}${inGroup(event.group)}, threshold ${formatNumber(event.threshold)}, id ${event.id}.`;
    case "audited":
      return `Audit of ${event.id}: its answer would have been ${event.loss > 0 ? "wrong" : "right"}.`;
    case "expired":
      return `${event.id}${inGroup(event.group)} expired without feedback${countedAs(event.loss ?? null)}.`;
    case "imported":
      return "The calibrator's state was replaced by an imported one.";
    case "health":
      return `${event.group ? `${event.group}: ` : ""}${event.previous} → ${event.state}: ${event.why}`;
    case "acknowledged":
      return "Acknowledged: the evidence starts anew.";
    default:
      return `${/** @type {{kind: string}} */ (event).kind}.`; // of a newer service
  }
}

/** @param {string | string[] | null | undefined} group */
const inGroup = (group) => ((group ?? null) === null ? "" : ` in ${[group].flat().join(", ")}`);

/** @param {number | null} loss */
const countedAs = (loss) => (loss === null ? "" : `, counted as a loss of ${formatNumber(loss)}`);
