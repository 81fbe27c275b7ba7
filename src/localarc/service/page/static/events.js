// A stream's events, for ever: read as they come, taken up again where they broke off.
// The browser's EventSource cannot send a token, so this reads the response itself.

import { pause, Refused, request, streamPath } from "./service.js";

const SILENCE = 45_000; // milliseconds without a sign of life: the line is dead
const LONGEST_PAUSE = 5_000;

/** Cuts what arrives into events; a part that is not complete is kept for the next time. */
export function reader() {
  let rest = "";
  return (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop();
    return blocks.map(parse).filter((event) => event !== null);
  };
}

function parse(block) {
  const event = { id: "", kind: "message", data: [] };
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    const value = line.slice(at + 1).replace(/^ /, "");
    const name = line.slice(0, at);
    if (name === "id") event.id = value;
    else if (name === "event") event.kind = value;
    else if (name === "data") event.data.push(value);
  }
  return event.data.length ? { ...event, data: JSON.parse(event.data.join("\n")) } : null;
}

/**
 * Follow a stream from after the event `last`, until the signal says stop.
 * `heard` gets every event, `line` the state of the line: "live" or "lost", with the reason.
 */
export async function follow(stream, last, signal, { heard, line }) {
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const event of listen(stream, last, signal, () => line("live"))) {
        failures = 0;
        last = event.id || last;
        heard(event);
      }
      if (!signal.aborted) line("lost", null);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status !== 503) throw error;
      line("lost", error);
    }
    await pause(Math.min(LONGEST_PAUSE, 250 * 2 ** failures) * (0.5 + Math.random() / 2), signal);
    failures += 1;
  }
}

async function* listen(stream, last, signal, up) {
  const dead = new AbortController();
  const giveUp = () => dead.abort();
  let timer = setTimeout(giveUp, SILENCE);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    const headers = { Accept: "text/event-stream", "Last-Event-ID": String(last) };
    const response = await request(streamPath(stream, "events"), { headers, signal: dead.signal });
    up();
    const take = reader();
    const bytes = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await bytes.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(giveUp, SILENCE);
      yield* take(value);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
    dead.abort();
  }
}
