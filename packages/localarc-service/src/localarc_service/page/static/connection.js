// The state of the connection to the service, shown in one place.

import { hideAlert, showAlert } from "./alerts.js";
import { ApiError } from "./api.js";
import { byId, setText } from "./dom.js";
import { formatTime } from "./format.js";

/** @typedef {"connecting" | "live" | "lost" | "sign-in" | "failed"} ConnectionState */

const LABELS = {
  connecting: "connecting",
  live: "live",
  lost: "reconnecting",
  "sign-in": "sign in",
  failed: "error",
};
const pill = byId("connection");
let lastLive = new Date();

/**
 * @param {ConnectionState} state
 * @param {unknown} error why the connection was lost
 */
export function showConnection(state, error = null) {
  const before = pill.dataset.state;
  setText(pill, LABELS[state]);
  pill.dataset.state = state;
  if (state !== "lost") {
    hideAlert("connection");
    return;
  }
  if (before !== "lost") lastLive = new Date();
  const reason =
    error instanceof ApiError && error.isTemporary
      ? `The service is unavailable: ${error.message}`
      : "The service does not respond.";
  showAlert(
    "connection",
    "Connection lost.",
    `${reason} Showing data from ${formatTime(lastLive)}. Retrying.`,
  );
}
