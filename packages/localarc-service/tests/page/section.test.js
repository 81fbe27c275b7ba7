import assert from "node:assert/strict";
import { test } from "node:test";
import { HOME } from "../../src/localarc_service/page/static/address.js";
import {
  alarmMarks,
  localTime,
  rangeAround,
  sectionOf,
  spanOf,
} from "../../src/localarc_service/page/static/section.js";

const points = Array.from({ length: 200 }, (_, index) => ({ rounds: index + 1, at: 60 * index, risk: 0.1 }));
const health = { status: "ok", since: null, group: null, window: 10 };
const state = (address = {}, summary = {}) => ({
  history: { seq: 1, target: 0.1, points },
  address: { ...HOME, ...address },
  summary: { health, overall: health, groups_health: [], ...summary },
});
const last = points.at(-1).at;

test("without a range the charts show all points", () => {
  const section = sectionOf(state(), last + 3600);
  assert.deepEqual(section.span, [0, last]);
  assert.equal(section.points.length, 200);
  assert.equal(section.windowed.length, 200);
});

test("a stale stream is shown until now, so that its silence is seen", () => {
  const stale = { ...health, status: "stale" };
  assert.deepEqual(sectionOf(state({}, { health: stale }), last + 3600).span, [0, last + 3600]);
});

test("the last hour ends now", () => {
  const section = sectionOf(state({ range: "1h" }), last + 600);
  assert.deepEqual(section.span, [last - 3000, last + 600]);
  assert.equal(section.points.length, 51);
  assert.equal(section.windowed[0].rounds, 10); // those before the range count
});

test("a service whose clock is ahead is shown up to its last point", () => {
  assert.deepEqual(sectionOf(state({ range: "1h" }), last - 600).span, [last - 3600, last]);
});

test("an address may ask for exact times", () => {
  assert.deepEqual(spanOf({ range: "", from: 60, to: 120 }, 500), [60, 120]);
  assert.deepEqual(spanOf({ range: "1h", from: 60, to: null }, 500), [60, 500]);
  assert.deepEqual(sectionOf(state({ to: 120 }), 500).span, [0, 120]);
  assert.equal(spanOf({ range: "always", from: null, to: null }, 500), null);
  assert.equal(sectionOf(state({ from: last + 10, to: last + 20 }), 500).points.length, 0);
});

test("a stream without points has an empty section", () => {
  const empty = { ...state(), history: { seq: 0, target: 0.1, points: [] } };
  assert.equal(sectionOf(empty, 500).points.length, 0);
});

test("the range around an alarm has points before and after it", () => {
  const { from, to } = rangeAround(points, 6000.5);
  assert.ok(from < 6000 && to > 6001);
  assert.ok(to - from < last);
  assert.deepEqual(rangeAround(points, last + 100).to, last + 100);
});

test("the alarm of the stream and that of the selected group are marked", () => {
  const city = { ...health, status: "broken", since: 300, group: "city" };
  const hills = { ...health, status: "drifting", since: 400, group: "hills" };
  const summary = { health: city, groups_health: [city, hills] };
  assert.deepEqual(alarmMarks(state({}, summary)), [{ value: 300, label: "broken: city", style: "broken" }]);
  assert.deepEqual(
    alarmMarks(state({ group: "hills" }, summary)).map(({ label }) => label),
    ["broken: city", "drifting: hills"],
  );
  assert.equal(alarmMarks(state({ group: "city" }, summary)).length, 1);
  assert.deepEqual(alarmMarks(state()), []);
});

test("fields for dates get the time of the reader's clock", () => {
  const date = new Date(2026, 2, 4, 3, 5, 6);
  assert.equal(localTime(date.getTime() / 1000), "2026-03-04T03:05:06");
});
