// Which of the two views is shown, and what happens when the service returns an error.

import { hideAllAlerts, showAlert } from "./alerts.js";
import { ApiError, token } from "./api.js";
import { showConnection } from "./connection.js";
import { byId } from "./dom.js";
import { showOverview } from "./overview.js";

const tokenField = /** @type {HTMLInputElement} */ (byId("token-value"));
let view = new AbortController();

function streamInAddress() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // an address that somebody typed, not one of the page's links
  }
}

async function open() {
  view.abort();
  view = new AbortController();
  const { signal } = view;
  const name = streamInAddress();
  hideAllAlerts();
  showConnection("connecting");
  byId("sign-in").hidden = true;
  byId("overview").hidden = Boolean(name);
  byId("stream").hidden = !name;
  try {
    if (name) await openStream(name, signal);
    else await showOverview(signal);
  } catch (error) {
    if (!signal.aborted) showFailure(error);
  }
}

/**
 * The charts are loaded with the first stream: the overview draws none.
 * @param {string} name
 * @param {AbortSignal} signal
 */
async function openStream(name, signal) {
  const { showStream } = await import("./stream.js");
  if (!signal.aborted) await showStream(name, signal);
}

/** @param {unknown} error */
function showFailure(error) {
  view.abort();
  if (!(error instanceof ApiError)) throw error;
  byId("overview").hidden = byId("stream").hidden = true;
  if (error.status === 401 || error.status === 403) {
    showConnection("sign-in");
    byId("token-rejected").hidden = token.get() === null;
    byId("sign-in").hidden = false;
    tokenField.focus();
    return;
  }
  showConnection("failed");
  showAlert("request", "The request failed.", error.message);
}

byId("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(tokenField.value.trim());
  tokenField.value = "";
  open();
});
addEventListener("hashchange", () => {
  open();
  byId(streamInAddress() ? "name" : "streams-title").focus({ preventScroll: true }); // the link is gone
});
open();
