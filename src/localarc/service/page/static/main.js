// Which of the two views is shown, and what happens when the service refuses.

import { alarm, clearAlarms } from "./alarms.js";
import { show } from "./connection.js";
import { overview } from "./overview.js";
import { Refused, token } from "./service.js";
import { stream } from "./stream.js";

const part = (id) => document.getElementById(id);
let leave = new AbortController();

function chosen() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // an address that was typed, not one of ours
  }
}

async function open() {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const name = chosen();
  clearAlarms();
  show("connecting");
  part("token").hidden = true;
  part("overview").hidden = Boolean(name);
  part("stream").hidden = !name;
  try {
    await (name ? stream(name, signal) : overview(signal));
  } catch (error) {
    if (!signal.aborted) refused(error);
  }
}

function refused(error) {
  if (!(error instanceof Refused)) throw error;
  part("overview").hidden = part("stream").hidden = true;
  alarm("connection");
  if (error.status === 401 || error.status === 403) {
    show("token needed");
    part("token-refused").hidden = token.get() === null;
    part("token").hidden = false;
    part("token-value").focus();
    return;
  }
  show("refused");
  alarm("refused", "The service refused.", error.message);
}

part("token").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(part("token-value").value.trim());
  part("token-value").value = "";
  open();
});
addEventListener("hashchange", open);
open();
