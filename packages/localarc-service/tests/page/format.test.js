import assert from "node:assert/strict";
import { test } from "node:test";
import {
  describeLabels,
  featureNames,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatNumber,
  formatRisk,
} from "../../src/localarc_service/page/static/format.js";

test("a missing number is a dash", () => {
  assert.equal(formatNumber(null), "–");
  assert.equal(formatRisk(null), "–");
});

test("numbers have three significant digits and no trailing zeros", () => {
  assert.equal(formatNumber(0.1), "0.1");
  assert.equal(formatNumber(0.123456), "0.123");
  assert.equal(formatNumber(1234.5), "1230");
});

test("a risk keeps four decimals", () => {
  assert.equal(formatRisk(0.1), "0.1000");
});

test("counts have separators", () => {
  assert.equal(formatCount(1234567), "1,234,567");
});

test("bytes are given in the unit that fits", () => {
  assert.equal(formatBytes(999), "999 B");
  assert.equal(formatBytes(69_300), "69.3 kB");
  assert.equal(formatBytes(2_500_000_000_000), "2.50e+3 GB");
});

test("durations are given in the unit that fits", () => {
  assert.equal(formatDuration(-1), "0 s");
  assert.equal(formatDuration(89), "89 s");
  assert.equal(formatDuration(600), "10 min");
  assert.equal(formatDuration(7200), "2 h");
  assert.equal(formatDuration(864_000), "10 days");
});

test("features have the names of the config, or their index", () => {
  assert.equal(featureNames(null)(2), "x[2]");
  assert.equal(featureNames(["hour", "wind"])(1), "wind");
});

test("a moment has a date unless it is today", () => {
  const at = new Date(2026, 2, 4, 3, 5, 6);
  assert.equal(formatMoment(at.getTime() / 1000, at), "03:05:06");
  assert.equal(formatMoment(at.getTime() / 1000, new Date(2026, 2, 5)), "4 Mar 2026, 03:05:06");
});

test("labels are pairs", () => {
  assert.equal(describeLabels({ team: "pricing", region: "north" }), "team: pricing · region: north");
  assert.equal(describeLabels({}), "");
});
