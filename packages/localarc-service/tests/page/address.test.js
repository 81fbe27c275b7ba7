import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAddress, HOME, parseAddress } from "../../src/localarc_service/page/static/address.js";

test("an address is read as it was written", () => {
  const views = [
    { search: "north & süd", status: "broken", cursor: "next~1~-12~demand" },
    { stream: "demand.north_1", group: 'a "b"? <c>&=#%', range: "6h" },
    { stream: "s", from: 1_790_000_000, to: 1_790_003_600.5 },
    {},
  ];
  for (const view of views) {
    assert.deepEqual(parseAddress(formatAddress(view)), { ...HOME, ...view });
  }
});

test("a link to a stream is its name alone", () => {
  assert.equal(formatAddress({ stream: "demand" }), "#demand");
  assert.equal(parseAddress("#demand").stream, "demand");
  assert.equal(formatAddress({}), "#");
});

test("times in a link can be read by people", () => {
  const link = formatAddress({ stream: "s", from: Date.UTC(2026, 0, 2, 3, 4, 5) / 1000 });
  assert.equal(link, "#s?from=2026-01-02T03:04:05Z");
});

test("a mistyped address is no error", () => {
  assert.deepEqual(parseAddress("#%E0%A4%A?from=yesterday&unknown=1"), HOME);
});
