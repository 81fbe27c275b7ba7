import assert from "node:assert/strict";
import { test } from "node:test";
import { describeGuarantee, groupRows, MAX_GROUPS } from "../../src/localarc_service/page/static/groups.js";

const risk = (group, value = 0.1) => ({ group, rounds: 10, risk: value });
const watched = (group, status = "ok") => ({ group, status });

test("groups are in the order of the service, those without a status last", () => {
  const groups = [risk("a", 0.1), risk("b", 0.2), risk("c", 0.3), risk("d", 0.4)];
  const rows = groupRows({ groups, groups_health: [watched("b", "broken"), watched("a")] }, "");
  assert.deepEqual(
    rows.map(({ name, health }) => [name, health?.status ?? null]),
    [
      ["b", "broken"],
      ["a", "ok"],
      ["d", null],
      ["c", null],
    ],
  );
});

test("the selected group is shown even if many are worse", () => {
  const groups = Array.from({ length: 60 }, (_, index) => risk(`g${index}`));
  const all = { groups, groups_health: groups.map(({ group }) => watched(group)) };
  assert.equal(groupRows(all, "").length, MAX_GROUPS);
  const rows = groupRows(all, "g50");
  assert.equal(rows.length, MAX_GROUPS + 1);
  assert.equal(rows.at(-1).name, "g50");
});

test("a group shows what is guaranteed for it, where something is", () => {
  assert.equal(describeGuarantee({ above: null, below: null }), "");
  assert.equal(describeGuarantee({ above: 0.3 }), "+0.3");
  assert.equal(describeGuarantee({ above: 0.3, below: 0.05 }), "+0.3 / −0.05");
});
