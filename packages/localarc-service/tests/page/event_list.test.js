import assert from "node:assert/strict";
import { test } from "node:test";
import {
  concerns,
  describeEvent,
  MAX_KEPT,
  rememberEvent,
  withAlarms,
} from "../../src/localarc_service/page/static/event_list.js";

const loss = (seq, more = {}) => ({
  kind: "feedback",
  seq,
  at: seq,
  id: `p${seq}`,
  loss: 1,
  threshold: 0.5,
  ...more,
});
const alarm = (seq, more = {}) => ({
  kind: "health",
  seq,
  at: seq,
  status: "broken",
  previous: "ok",
  since_round: 9,
  why: "The risk is at least 0.2.",
  group: null,
  ...more,
});
const remember = (events) => events.reduce(rememberEvent, []);

test("the newest event is first, however late it arrives", () => {
  const seqs = remember([loss(2), loss(5), loss(3), loss(5)]).map(({ seq }) => seq);
  assert.deepEqual(seqs, [5, 3, 2]);
});

test("thousands of losses do not push an alarm out", () => {
  const events = [alarm(1), ...Array.from({ length: 3 * MAX_KEPT }, (_, index) => loss(index + 2))];
  const kept = remember(events);
  assert.equal(kept.length, MAX_KEPT + 1);
  assert.equal(kept.at(-1).kind, "health");
});

test("an alarm in force is listed even if its event is long gone", () => {
  const city = { status: "broken", since: 3, since_round: 9, why: "w", group: "city" };
  const hills = { ...city, status: "ok", group: "hills" };
  const whole = { ...city, since: 5, group: null };
  const listed = withAlarms([loss(20)], [whole, city, hills]);
  assert.deepEqual(listed.map(describeEvent).slice(1), ["broken: w", "city: broken: w"]);
  assert.equal(withAlarms([alarm(4, { group: "city" })], [city]).length, 1);
});

test("predictions without a loss are not listed", () => {
  assert.deepEqual(
    remember([
      { kind: "predicted", seq: 1 },
      { kind: "reset", seq: 2 },
    ]),
    [],
  );
});

test("a group has its losses and alarms, and what concerns the whole stream", () => {
  assert.ok(concerns(loss(1, { group: ["a", "b"] }), "b"));
  assert.ok(!concerns(loss(1, { group: "a" }), "b"));
  assert.ok(!concerns(loss(1), "b"));
  assert.ok(concerns(alarm(1), "b"));
  assert.ok(!concerns(alarm(1, { group: "a" }), "b"));
  assert.ok(concerns({ kind: "imported", seq: 1, at: 1 }, "b"));
});

test("every event is one sentence", () => {
  assert.equal(describeEvent(alarm(1)), "ok → broken: The risk is at least 0.2.");
  assert.equal(describeEvent(alarm(1, { group: "city" })), "city: ok → broken: The risk is at least 0.2.");
  assert.equal(describeEvent({ kind: "acknowledged" }), "Acknowledged: the evidence starts anew.");
  assert.equal(describeEvent(loss(1, { group: "city" })), "Loss 1 in city, threshold 0.5, id p1.");
  assert.equal(
    describeEvent({ kind: "expired", id: "p", loss: 1, group: null }),
    "p expired without feedback, counted as a loss of 1.",
  );
  assert.equal(describeEvent({ kind: "expired", id: "p", loss: null }), "p expired without feedback.");
});

test("changes of the stream itself are told in words", () => {
  const change = (kind, more) => describeEvent({ kind, seq: 1, at: 1, ...more });
  assert.match(change("changed", {}), /^Labels, timeout, default loss or retention were changed/);
  assert.equal(change("renamed", { previous: "a", name: "b" }), "The stream was renamed to b.");
  assert.match(change("removed", { before: 0, answered: 2 }), /were removed because of their age/);
  assert.equal(change("deleted", {}), "The stream was deleted.");
});
