import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, test } from "vitest";
import { bed, reasonOf } from "./client.testbed.ts";

const CHANNELS = [
  "bobtail:call",
  "bobtail:attempt",
  "bobtail:hedge.launched",
  "bobtail:hedge.suppressed",
  "bobtail:hedge.won",
  "bobtail:hedge.lost",
  "bobtail:budget.denied",
];

/** What is published while `fn` runs, as `channel` and message. */
async function published(fn: () => Promise<unknown>): Promise<[string, Record<string, unknown>][]> {
  const seen: [string, Record<string, unknown>][] = [];
  const note = (message: unknown, name: string | symbol) => {
    seen.push([String(name), message as Record<string, unknown>]);
  };
  for (const name of CHANNELS) subscribe(name, note);
  await fn();
  for (const name of CHANNELS) unsubscribe(name, note);
  return seen;
}

test("a call that a hedge wins is told from launch to settle", async () => {
  const { time, client } = bed(2, { name: "search" });
  const seen = await published(() =>
    time.run(client.call((_, a) => time.sleep(a.number === 1 ? 100 : 5), { idempotent: true })),
  );
  const service = "search";
  expect(seen.map(([name]) => name)).toEqual([
    "bobtail:hedge.launched",
    "bobtail:hedge.won",
    "bobtail:attempt",
    "bobtail:attempt",
    "bobtail:call",
  ]);
  expect(seen[0]?.[1]).toMatchObject({ service, number: 2, afterMs: 20 });
  expect(seen[1]?.[1]).toMatchObject({ service, outcome: "win", latencyMs: 5 });
  expect(seen[2]?.[1]).toMatchObject({ kind: "primary", outcome: "superseded", latencyMs: 25 });
  expect(seen[4]?.[1]).toMatchObject({
    service,
    outcome: "succeeded",
    elapsedMs: 25,
    attempts: 2,
    hedges: 1,
  });
});

test("a hedge that lost, one that was suppressed and a refused budget each have their channel", async () => {
  const { time, client } = bed(2, { budget: { burstCount: 2, extraRatio: 0 } });
  const slow = () => time.run(client.call(() => time.sleep(30), { idempotent: true }));
  const seen = await published(async () => {
    await slow();
    await slow();
    await slow();
  });
  const names = seen.map(([name]) => name);
  for (const name of ["bobtail:hedge.lost", "bobtail:hedge.suppressed", "bobtail:budget.denied"])
    expect(names).toContain(name);
  expect(seen.find(([name]) => name === "bobtail:budget.denied")?.[1]).toEqual({
    service: "client",
    reason: "budget",
  });
});

test("a call that failed says how", async () => {
  const { client } = bed(1, { retry: { max: 0 }, hedge: undefined });
  const seen = await published(() => reasonOf(client.call(() => Promise.reject(new Error("no")))));
  expect(seen.map(([name, m]) => [name, m.outcome])).toEqual([
    ["bobtail:attempt", "failed"],
    ["bobtail:call", "all-failed"],
  ]);
});
