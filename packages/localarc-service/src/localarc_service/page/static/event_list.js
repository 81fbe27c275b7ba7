// The latest events of a stream, newest first. Alarms stay longer than losses, of which there are many.

import { byId, child, clone, setText, updateList } from "./dom.js";
import { formatMoment, formatNumber } from "./format.js";

/** @import { Health, StreamEvent, StreamSummary } from "../wire" */

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
 * The events, and the alarms in force that were raised before the first of them.
 * @param {readonly Change[]} events
 * @param {Health[]} healths
 * @returns {Change[]}
 */
export function withAlarms(events, healths) {
  const listed = new Set(events.map((event) => (event.kind === "health" ? alarmKey(event) : "")));
  const { rounds = 0, risk = null, pending = 0, late = 0, expired = 0 } = events[0] ?? {};
  const others = healths.flatMap((health) => {
    if (health.status === "ok" || health.since === null || listed.has(alarmKey(health))) return [];
    const { status, since: at, since_round, why, group } = health;
    const counters = { seq: -1, rounds, risk, pending, late, expired };
    return [
      {
        kind: /** @type {const} */ ("health"),
        ...counters,
        at,
        status,
        previous: status,
        since_round,
        why,
        group,
      },
    ];
  });
  return [...events, ...others.sort((one, other) => other.at - one.at)];
}

/** @param {{status: string, group?: string | null}} alarm */
const alarmKey = ({ status, group }) => `${status} ${group ?? ""}`;

/**
 * @param {readonly Change[]} events
 * @param {StreamSummary} summary
 * @param {string} group the one that is selected, or ""
 */
export function showEvents(events, { overall, groups_health: groups }, group) {
  const all = withAlarms(events, [overall, ...groups]);
  const shown = latestOfBoth(group ? all.filter((event) => concerns(event, group)) : all, MAX_SHOWN);
  byId("no-events").hidden = shown.length > 0;
  updateList(byId("events"), shown, eventKey, createRow, updateRow);
}

/** @param {Change} event */
const eventKey = (event) => `${event.seq} ${event.kind} ${"group" in event ? event.group : ""}`;

const createRow = () => clone("event-row");

/**
 * @param {HTMLElement} row
 * @param {Change} event
 */
function updateRow(row, event) {
  if (event.kind === "health") row.dataset.tone = event.status;
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
      return `${event.group ? `${event.group}: ` : ""}${describeChange(event)}: ${event.why}`;
    case "acknowledged":
      return "Acknowledged: the evidence starts anew.";
    case "changed":
      return "Labels, timeout, default loss or retention were changed.";
    case "renamed":
      return `The stream was renamed to ${event.name}.`;
    case "removed":
      return `Records up to ${formatMoment(event.before)} were removed because of their age.`;
    case "deleted":
      return "The stream was deleted.";
    default:
      return `${/** @type {{kind: string}} */ (event).kind}.`; // of a newer service
  }
}

/** @param {{status: string, previous: string}} event */
const describeChange = ({ status, previous }) => (previous === status ? status : `${previous} → ${status}`);

/** @param {string | string[] | null | undefined} group */
const inGroup = (group) => ((group ?? null) === null ? "" : ` in ${[group].flat().join(", ")}`);

/** @param {number | null} loss */
const countedAs = (loss) => (loss === null ? "" : `, counted as a loss of ${formatNumber(loss)}`);
