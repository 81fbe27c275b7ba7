// Which of the two views is shown, and what happens when the service returns an error.

import { parseAddress } from "./address.js";
import { hideAllAlerts, showAlert } from "./alerts.js";
import { ApiError, token } from "./api.js";
import { showConnection } from "./connection.js";
import { byId } from "./dom.js";
import { showOverview } from "./overview.js";

/** @import { Address } from "./address.js" */

const tokenField = /** @type {HTMLInputElement} */ (byId("token-value"));
let view = new AbortController();
let shown = ""; // the stream in view, "" for the overview

async function open() {
  view.abort();
  view = new AbortController();
  const { signal } = view;
  const address = parseAddress(location.hash);
  hideAllAlerts();
  showConnection("connecting");
  byId("sign-in").hidden = true;
  byId("overview").hidden = Boolean(address.stream);
  if (!address.stream || address.stream !== byId("stream").dataset.name) hideStream();
  shown = address.stream;
  try {
    if (shown) await openStream(address, signal);
    else await showOverview(address, signal);
  } catch (error) {
    if (!signal.aborted) showFailure(error);
  }
}

/** Until the next one is read, nothing of another stream may be seen. */
function hideStream() {
  byId("stream").hidden = true;
  delete byId("stream").dataset.name;
}

/**
 * The charts are loaded with the first stream: the overview draws none.
 * @param {Address} address
 * @param {AbortSignal} signal
 */
async function openStream(address, signal) {
  const { showStream } = await import("./stream.js");
  if (!signal.aborted) await showStream(address, signal);
}

/** @param {unknown} error */
function showFailure(error) {
  view.abort();
  if (!(error instanceof ApiError)) throw error;
  byId("overview").hidden = true;
  hideStream();
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
  const before = shown;
  open();
  if (shown === before) return;
  scrollTo(0, 0);
  if (!shown) byId("streams-title").focus({ preventScroll: true }); // the link is gone
});
open();
