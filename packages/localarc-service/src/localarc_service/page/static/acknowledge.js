// The button that acknowledges an alarm: asks first, and says what happens.

import { ApiError, request, streamPath } from "./api.js";
import { byId, setText } from "./dom.js";
import { describeSince } from "./status.js";

const OFFERED = ["broken", "drifting", "recovered"];

/** @import { StreamSummary } from "../wire" */

const dialog = /** @type {HTMLDialogElement} */ (byId("confirm"));
const button = /** @type {HTMLButtonElement} */ (byId("acknowledge"));
const confirm = /** @type {HTMLButtonElement} */ (byId("confirm-yes"));

/**
 * Offer the button while there is an alarm, or one that nobody has seen.
 * @param {StreamSummary} summary
 * @param {() => void} onDone
 * @param {AbortSignal} signal
 */
export function offerAcknowledgement(summary, onDone, signal) {
  const { health, consistent } = summary;
  button.hidden = !consistent || !OFFERED.includes(health.status);
  button.onclick = () => {
    setText(byId("confirm-text"), describeAlarm(summary));
    showError("");
    confirm.disabled = false;
    confirm.onclick = () => acknowledge(summary.stream, onDone);
    dialog.showModal();
    signal.addEventListener("abort", () => dialog.close(), { once: true }); // another view
  };
}

/** @param {StreamSummary} summary */
export function describeAlarm({ stream, health }) {
  const what = (health.group ?? null) === null ? stream : `${health.group} in ${stream}`;
  return `${what} is ${health.status} ${describeSince(health)}. ${health.why}`;
}

/**
 * @param {string} stream
 * @param {() => void} onDone
 */
async function acknowledge(stream, onDone) {
  confirm.disabled = true; // twice would forget the evidence of the rounds in between
  try {
    await request(streamPath(stream, "acknowledge"), { method: "POST" });
    dialog.close();
    byId("name").focus({ preventScroll: true }); // the button disappears
    onDone();
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof TypeError)) throw error;
    confirm.disabled = false;
    showError(describeFailure(error));
  }
}

/** @param {Error} error */
function describeFailure(error) {
  if (error instanceof ApiError && error.status === 403)
    return "Your token may read but not write. Open the page in a new tab and sign in with a token that has the write scope.";
  return error instanceof ApiError ? error.message : "The service does not respond. Try again.";
}

/** @param {string} text */
function showError(text) {
  byId("confirm-error").hidden = !text;
  setText(byId("confirm-error"), text);
}

byId("confirm-no").addEventListener("click", () => dialog.close());
