import assert from "node:assert/strict";
import { test } from "node:test";
import { timeTicks, timeTitle } from "../../src/localarc_service/page/static/time_scale.js";

process.env.TZ = "Asia/Kolkata"; // five and a half hours ahead
const at = (/** @type {string} */ text) => Date.parse(`${text}+05:30`) / 1000;
const labels = (/** @type {[number, number]} */ domain, count = 5) =>
  timeTicks(domain, count).map(({ label }) => label);

test("ticks are round times of the reader's clock", () => {
  const domain = /** @type {[number, number]} */ ([at("2026-03-04T03:02:10"), at("2026-03-04T04:11:00")]);
  assert.deepEqual(labels(domain), ["03:15", "03:30", "03:45", "04:00"]);
  assert.deepEqual(
    timeTicks(domain, 5).map(({ value }) => value),
    ["03:15", "03:30", "03:45", "04:00"].map((time) => at(`2026-03-04T${time}:00`)),
  );
});

test("a label names the day where it changes", () => {
  assert.deepEqual(labels([at("2026-03-04T20:00:00"), at("2026-03-05T05:00:00")], 4), [
    "21:00",
    "5 Mar",
    "03:00",
  ]);
});

test("seconds are shown where ticks are seconds apart", () => {
  assert.deepEqual(labels([at("2026-03-04T03:00:00"), at("2026-03-04T03:00:20")], 4), [
    "03:00:00",
    "03:00:05",
    "03:00:10",
    "03:00:15",
    "03:00:20",
  ]);
});

test("parts of a second are shown where all rounds fall into one", () => {
  assert.deepEqual(labels([at("2026-03-04T03:00:00.150"), at("2026-03-04T03:00:00.950")], 4), [
    "03:00:00.2",
    "03:00:00.4",
    "03:00:00.6",
    "03:00:00.8",
  ]);
  assert.deepEqual(labels([at("2026-03-04T03:00:00.001"), at("2026-03-04T03:00:00.004")], 4), [
    "03:00:00.001",
    "03:00:00.002",
    "03:00:00.003",
    "03:00:00.004",
  ]);
});

test("weeks are marked at midnight", () => {
  assert.deepEqual(labels([at("2026-03-04T12:00:00"), at("2026-03-25T12:00:00")], 3), [
    "5 Mar",
    "12 Mar",
    "19 Mar",
  ]);
});

test("a moment has one tick at most and no endless loop", () => {
  const now = at("2026-03-04T03:00:00");
  assert.ok(timeTicks([now, now], 6).length <= 1);
  assert.ok(timeTicks([0, 4e9], 6).length <= 7);
});

test("the title names the day and the time zone", () => {
  assert.equal(timeTitle([at("2026-03-04T03:00:00"), at("2026-03-04T04:00:00")]), "4 March 2026, UTC+05:30");
  assert.equal(
    timeTitle([at("2026-03-04T23:00:00"), at("2026-03-05T04:00:00")]),
    "4 March 2026 – 5 March 2026, UTC+05:30",
  );
});
