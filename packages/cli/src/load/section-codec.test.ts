import { expect, test } from "vitest";
import { countKind } from "./flight.ts";
import { emptySection, type LoadSection } from "./load-report.ts";
import { decodeSection, encodeSection, sumSections } from "./section-codec.ts";

function filled(seed: number): LoadSection {
  const section = emptySection(seed);
  for (const [i, name] of (["completed", "all", "failed", "service", "connect"] as const).entries())
    section[name].record(seed * 1_000 + i);
  section.ledger.sent = seed;
  section.statuses.set(200, seed);
  section.failures.set(`E${seed}`, 1);
  return section;
}

test("what threads report is exactly summed", () => {
  const sum = emptySection(0);
  sumSections(
    sum,
    [filled(1), filled(2)].map((part) => decodeSection(encodeSection(part))),
  );
  const direct = emptySection(0);
  sumSections(direct, [filled(1), filled(2)]);
  expect(encodeSection(sum)).toEqual(encodeSection(direct));
  expect([sum.ledger.planned, sum.ledger.sent, sum.statuses.get(200)]).toEqual([3, 3, 3]);
  expect([sum.completed.count, sum.completed.min, sum.completed.max]).toEqual([2, 1_000, 2_000]);
  expect([...sum.failures]).toEqual([
    ["E1", 1],
    ["E2", 1],
  ]);
});

test("a server that words every failure differently does not fill the memory: 32 kinds are told apart", () => {
  const failures = new Map<string, number>();
  for (let i = 0; i < 1_000; i++) countKind(failures, `kind ${i}`);
  expect(failures.size).toBe(32);
  expect(failures.get("other")).toBe(969);
});
