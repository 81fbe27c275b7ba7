// All streams, a card each; asked for every two seconds.

import { alarm } from "./alarms.js";
import { show } from "./connection.js";
import { ask, pause, Refused } from "./service.js";
import { count, figure, risk } from "./words.js";

const INTERVAL = 2_000;
const MANY = 12; // from so many on there is a field to find one
const list = document.getElementById("streams");
const find = document.getElementById("find");
const template = document.getElementById("stream-card").content.firstElementChild;

export async function overview(signal) {
  document.title = "localarc";
  find.oninput = filter;
  while (!signal.aborted) {
    try {
      const { streams } = await ask("v1/streams", { signal });
      draw(streams);
      show("live");
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status !== 503) throw error;
      show("lost", error);
    }
    await pause(INTERVAL, signal);
  }
}

function draw(streams) {
  const broken = streams.filter((stream) => !stream.healthy);
  const names = broken.map((stream) => stream.stream).join(", ");
  alarm("promise", "The promise is broken.", broken.length ? `Do not rely on: ${names}.` : "");
  document.getElementById("overview-words").textContent = words(streams);
  document.getElementById("no-streams").hidden = streams.length > 0;
  find.hidden = streams.length < MANY;
  const ordered = [...broken, ...streams.filter((stream) => stream.healthy)];
  list.replaceChildren(...ordered.map(card));
  filter();
}

function words(streams) {
  const rounds = streams.reduce((sum, stream) => sum + stream.rounds, 0);
  const pending = streams.reduce((sum, stream) => sum + stream.pending, 0);
  return `${count(streams.length)} in all, ${count(rounds)} rounds learnt, ${count(pending)} losses awaited`;
}

function card(stream) {
  const item = template.cloneNode(true);
  const say = (part, text) => (item.querySelector(part).textContent = text);
  item.classList.toggle("broken", !stream.healthy);
  item.querySelector("a").href = `#${encodeURIComponent(stream.stream)}`;
  say(".name", stream.stream);
  say(".state", stream.healthy ? "" : "broken");
  item.querySelector(".state").classList.toggle("bad", !stream.healthy);
  say(".risk", risk(stream.risk));
  say(".target", `target ${figure(stream.target)}`);
  say(".counts", `${count(stream.rounds)} rounds · ${count(stream.pending)} awaited · ${count(stream.late)} late`);
  const share = Math.min(2, (stream.risk ?? 0) / stream.target); // the target stands in the middle
  item.querySelector(".meter").style.setProperty("--risk", share);
  return item;
}

function filter() {
  const wanted = find.value.toLowerCase();
  for (const item of list.children) {
    item.hidden = !item.querySelector(".name").textContent.toLowerCase().includes(wanted);
  }
}
