import assert from "node:assert/strict";
import { test } from "node:test";
import { createParser } from "../../src/localarc_service/page/static/events.js";

const TEXT = 'id: 7\nevent: feedback\ndata: {"seq":7}\n\n: heartbeat\n\nid: 8\ndata: {"seq":8}\n\n';
const EVENTS = [
  { id: "7", data: { seq: 7 } },
  { id: "8", data: { seq: 8 } },
];

test("events are read and heartbeats are skipped", () => {
  assert.deepEqual(createParser()(TEXT), EVENTS);
});

test("it does not matter where the response is cut", () => {
  for (let cut = 0; cut <= TEXT.length; cut += 1) {
    const parse = createParser();
    assert.deepEqual([...parse(TEXT.slice(0, cut)), ...parse(TEXT.slice(cut))], EVENTS);
  }
});
