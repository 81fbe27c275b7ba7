// The promise in words: whether the books balance, and what is promised if they do.

import { figure } from "./words.js";

/** Whether a stream can be relied on, with the sentence that says why not. */
export function judge(summary) {
  const { certificate } = summary;
  if (!certificate.consistent) {
    return {
      kept: false,
      words: "What was learnt does not add up to the thresholds that were told: losses were lost or " +
        `doubled, or an old state was restored. The books are off by ${figure(certificate.consistency_gap)}. ` +
        "Do not rely on this stream's risk or thresholds; restore it from a state that is known to be good.",
    };
  }
  if (certificate.replay_differs > 0) {
    return {
      kept: false,
      words: `When the log was replayed, ${certificate.replay_differs} thresholds came out otherwise than they ` +
        "had been told. The log or its snapshot was changed, or was written by another version.",
    };
  }
  if (!summary.healthy) {
    return { kept: false, words: "The service has stopped this stream and does not vouch for it. Its log says why." };
  }
  if (summary.rounds === 0) return { kept: true, words: "No loss has been reported yet." };
  return { kept: true, words: `Every loss that was reported is in the thresholds, once. ${promised(summary)}` };
}

function promised({ certificate, config, target }) {
  const { bound } = certificate;
  if (!bound.holds || bound.value === null) {
    const reason = bound.unmet.length ? ` (${bound.unmet.join("; ")})` : "";
    return `Nothing is promised in advance${reason}.`;
  }
  const awaited = certificate.max_pending
    ? ` That allows for ${certificate.max_pending} losses awaited at one time, as happened.` : "";
  if (bound.value >= Math.max(target, config.loss_bound - target)) {
    return `What is promised in advance says nothing yet: its bound is ${figure(bound.value)}, wider than ` +
      `any risk can be off. It narrows as rounds are learnt.${awaited}`;
  }
  return `For any inputs whatever, the risk is within ${figure(bound.value)} of the target ${figure(target)}, ` +
    `by ${bound.name}.${awaited}`;
}

export function showPromise(section, summary) {
  const verdict = judge(summary);
  section.dataset.state = verdict.kept ? "kept" : "broken";
  section.querySelector("h2").textContent = verdict.kept ? "The books balance" : "The promise is broken";
  section.querySelector("#promise-words").textContent = verdict.words;
  const rows = summary.certificate.bounds.map(boundRow);
  section.querySelector("tbody").replaceChildren(...rows);
  return verdict;
}

function boundRow(bound) {
  const row = document.createElement("tr");
  const rests = [...bound.assumes, ...bound.unmet.map((each) => `not met: ${each}`)].join("; ");
  for (const text of [bound.name, bound.holds ? figure(bound.value) : "no promise", rests]) {
    row.insertCell().textContent = text;
  }
  return row;
}
