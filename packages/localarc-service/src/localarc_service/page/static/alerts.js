// What a reader must not overlook: one line per problem, removed when the problem is solved.

import { byId } from "./dom.js";

const container = byId("alerts");

/**
 * Show the alert of this kind.
 * @param {string} kind
 * @param {string} title
 * @param {string} text
 */
export function showAlert(kind, title, text) {
  const old = find(kind);
  if (old?.textContent === `${title} ${text}`) return; // the same again would be announced again
  const line = old ?? document.createElement("p");
  const strong = document.createElement("strong");
  strong.textContent = title;
  line.className = "alert";
  line.dataset.kind = kind;
  line.replaceChildren(strong, ` ${text}`);
  if (!old) container.append(line);
}

/** @param {string} kind */
export function hideAlert(kind) {
  find(kind)?.remove();
}

export function hideAllAlerts() {
  container.replaceChildren();
}

/**
 * @param {string} kind
 * @returns {HTMLElement | null}
 */
function find(kind) {
  return container.querySelector(`[data-kind="${kind}"]`);
}
