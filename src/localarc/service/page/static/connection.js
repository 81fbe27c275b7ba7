// The line to the service: live or lost, shown in one place.

import { alarm } from "./alarms.js";
import { clock } from "./words.js";

const pill = document.getElementById("connection");
let since = null;

export function show(state, error = null) {
  if (pill.dataset.state !== state) pill.textContent = { live: "live", lost: "reconnecting" }[state] ?? state;
  pill.dataset.state = state;
  if (state !== "lost") {
    since = null;
    alarm("connection");
    return;
  }
  since ??= clock(new Date());
  const reason = error?.status === 503 ? `The service says: ${error.message}` : "The service does not answer.";
  alarm("connection", "Connection lost.", `${reason} The figures below are those of ${since}. Trying again.`);
}
