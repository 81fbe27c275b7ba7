// Server-sent events of a stream: read as they arrive, resumed where the connection broke.
// The browser's EventSource cannot send a token, so this reads the response itself.

import { ApiError, request, sleep, streamPath } from "./api.js";

/** @import { StreamEvent } from "../wire" */

const SILENCE = 45_000; // milliseconds without a heartbeat after which the connection counts as dead
const MAX_PAUSE = 5_000;

/**
 * A parser of the text of a response: each call returns the events that are complete, and keeps
 * the rest for the next call.
 * @returns {(text: string) => {id: string, data: StreamEvent}[]}
 */
export function createParser() {
  let rest = "";
  return (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap(parseBlock);
  };
}

/** @param {string} block */
function parseBlock(block) {
  let id = "";
  let data = "";
  for (const line of block.split("\n")) {
    const [, name, value] = /^(id|data): ?(.*)$/.exec(line) ?? [];
    if (name === "id") id = value;
    else if (name === "data") data += value;
  }
  return data ? [{ id, data: JSON.parse(data) }] : [];
}

/**
 * Follow a stream's events after the event `last` until the signal aborts.
 * @param {string} stream
 * @param {number} last
 * @param {AbortSignal} signal
 * @param {{
 *   onEvent: (event: StreamEvent) => void,
 *   onOpen: () => void,
 *   onLost: (error: unknown) => void,
 * }} callbacks
 */
export async function followEvents(stream, last, signal, { onEvent, onOpen, onLost }) {
  let lastId = String(last);
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const event of readEvents(stream, lastId, signal, onOpen)) {
        failures = 0;
        lastId = event.id || lastId;
        onEvent(event.data);
      }
      if (!signal.aborted) onLost(null);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !error.isTemporary) throw error;
      onLost(error);
    }
    await sleep(Math.min(MAX_PAUSE, 250 * 2 ** failures) * (0.5 + Math.random() / 2), signal);
    failures += 1;
  }
}

/**
 * @param {string} stream
 * @param {string} lastId
 * @param {AbortSignal} signal
 * @param {() => void} onOpen
 */
async function* readEvents(stream, lastId, signal, onOpen) {
  const connection = new AbortController();
  const close = () => connection.abort();
  let timer = setTimeout(close, SILENCE);
  signal.addEventListener("abort", close, { once: true });
  try {
    const headers = { Accept: "text/event-stream", "Last-Event-ID": lastId };
    const response = await request(streamPath(stream, "events"), { headers, signal: connection.signal });
    onOpen();
    if (response.body === null) return;
    const parse = createParser();
    const chunks = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await chunks.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(close, SILENCE);
      yield* parse(value);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", close);
    connection.abort();
  }
}
