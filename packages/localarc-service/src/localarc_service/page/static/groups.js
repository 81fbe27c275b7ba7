// The groups of a stream as a table, worst first; one of them may be selected by the address.

import { formatAddress } from "./address.js";
import { byId, child, clone, setText, updateList } from "./dom.js";
import { formatCount, formatDuration, formatNumber, formatRisk } from "./format.js";
import { showBadge } from "./status.js";

/** @import { GroupRisk, Health, StreamSummary } from "../wire" */

/** @typedef {{name: string, risk: GroupRisk, health: Health | null}} GroupRow */

export const MAX_GROUPS = 20;

/**
 * The groups that are shown: those whose status is worst, and the selected one. The service sends
 * the worst first, and not all if there are many.
 * @param {Pick<StreamSummary, "groups" | "groups_health">} summary
 * @param {string} selected
 * @returns {GroupRow[]}
 */
export function groupRows({ groups, groups_health: healths }, selected) {
  const risks = new Map(groups.map((risk) => [risk.group, risk]));
  const watched = healths.flatMap((health) => {
    const risk = risks.get(health.group ?? "");
    return risk ? [{ name: risk.group, risk, health }] : [];
  });
  const known = new Set(watched.map(({ name }) => name));
  const others = groups
    .filter(({ group }) => !known.has(group))
    .sort((one, other) => other.risk - one.risk)
    .map((risk) => ({ name: risk.group, risk, health: null }));
  const all = [...watched, ...others];
  return all.filter(({ name }, index) => index < MAX_GROUPS || name === selected);
}

/**
 * @param {StreamSummary} summary
 * @param {string} selected
 */
export function showGroups(summary, selected) {
  const rows = groupRows(summary, selected);
  const omitted = summary.groups.length - rows.length;
  byId("groups").hidden = summary.groups.length === 0;
  const found = rows.find(({ name }) => name === selected);
  setText(byId("group-selected"), selected ? describeGroup(selected, found) : "");
  byId("group-clear").hidden = !selected;
  byId("group-clear").setAttribute("href", formatAddress({ stream: summary.stream }));
  setText(byId("group-note"), describeRest(summary, omitted));
  updateList(
    byId("group-rows"),
    rows,
    ({ name }) => name,
    createRow,
    (element, row) => updateRow(element, row, summary, selected),
  );
}

/**
 * @param {string} name
 * @param {GroupRow | undefined} row
 */
function describeGroup(name, row) {
  if (row === undefined) return `There is no loss in the group ${name} yet.`;
  return `${name}: ${row.health?.why ?? "its status is not listed, since others are worse."}`;
}

/**
 * @param {StreamSummary} summary
 * @param {number} omitted
 */
function describeRest({ target }, omitted) {
  const rest = omitted > 0 ? ` ${formatCount(omitted)} groups with a better status are not shown.` : "";
  return `Worst first. The target of every group is ${formatNumber(target)}.${rest}`;
}

const createRow = () => clone("group-row");

/**
 * @param {HTMLElement} element
 * @param {GroupRow} row
 * @param {StreamSummary} summary
 * @param {string} selected
 */
function updateRow(element, { name, risk, health }, summary, selected) {
  /** @type {(selector: string, text: string) => void} */
  const set = (selector, text) => setText(child(element, selector), text);
  const tone = health?.status ?? "unknown";
  const link = child(element, "a");
  element.dataset.tone = tone;
  showBadge(child(element, ".badge"), { tone, word: health?.status ?? "not listed" });
  link.setAttribute("href", formatAddress({ stream: summary.stream, group: name }));
  link.title = name;
  if (name === selected) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  setText(link, name);
  set(".recent", formatRisk(health?.recent_risk ?? null));
  set(".risk", formatRisk(risk.risk));
  set(".rounds", formatCount(risk.rounds));
  set(".since", describeAge(health));
  set(".guarantee", describeGuarantee(risk));
}

/** @param {Health | null} health */
function describeAge(health) {
  if (health === null || health.status === "ok" || health.since === null) return "";
  return formatDuration(Date.now() / 1000 - health.since);
}

/**
 * What is guaranteed for a group, if anything is.
 * @param {GroupRisk} group
 */
export function describeGuarantee({ above, below }) {
  const sides = [
    (above ?? null) === null ? "" : `+${formatNumber(above ?? null)}`,
    (below ?? null) === null ? "" : `−${formatNumber(below ?? null)}`,
  ].filter(Boolean);
  return sides.join(" / ");
}
