import { expect, test } from "vitest";
import { type BobtailError, isBobtailError } from "../../core/errors.ts";
import { withContext } from "./call-context.ts";
import { bed, reasonOf } from "./client.testbed.ts";

// The first test runs before any `withContext` of this process: what it shows holds without its cost.
const idempotent = { idempotent: true };

test("a call made in an attempt of a call that may hedge does not hedge again, while the outer one does", async () => {
  const { time, client } = bed(3);
  const kinds: string[] = [];
  const fn = async (_: string, outer: { kind: string }) => {
    kinds.push(outer.kind);
    await client.call(() => time.sleep(outer.kind === "primary" ? 100 : 1), idempotent);
  };
  const outer = bed(3, { clock: time, timers: time }).client;
  await time.run(outer.call(fn, idempotent));
  await time.runUntilIdle();
  expect(kinds).toEqual(["primary", "hedge"]);
  expect(client.stats()).toMatchObject({ calls: 2, hedges: 0 });
});

test("after an attempt has returned, calls made elsewhere hedge as before", async () => {
  const { time, client } = bed(3);
  await client.call(() => "quick", idempotent);
  await time.run(client.call(() => time.sleep(100), idempotent));
  expect(client.stats().hedges).toBe(1);
});

test("a call made in an attempt ends with the outer call's deadline", async () => {
  const { time, client } = bed(3, { hedge: undefined });
  const inner = bed(1, { clock: time, timers: time }).client;
  const never = () => new Promise<never>(() => {});
  let innerReason: unknown;
  const outer = client.call(
    async () => {
      innerReason = await reasonOf(inner.call(never));
    },
    { deadlineMs: 30 },
  );
  await reasonOf(time.run(outer));
  await time.advance(1);
  expect((innerReason as BobtailError).details).toMatchObject({ elapsedMs: 30 });
});

test("marks of a request reach the calls made while serving it, also after an await, and no others", async () => {
  const { time, client } = bed(3);
  const slow = () => time.sleep(100);
  const serve = withContext({ noHedge: true, deadlineMs: 500, clock: time }, async () => {
    await time.sleep(10);
    await client.call(slow, idempotent);
  });
  await time.run(serve);
  expect(client.stats()).toMatchObject({ calls: 1, hedges: 0 });
  await time.run(client.call(slow, idempotent));
  expect(client.stats()).toMatchObject({ calls: 2, hedges: 1 });
});

test("a request's deadline only ever shrinks on its way down", async () => {
  const { time, client } = bed(1);
  const never = () => new Promise<never>(() => {});
  const elapsed = async (outerMs: number, innerMs: number, callMs: number) => {
    const reason = await reasonOf(
      time.run(
        withContext({ deadlineMs: outerMs, clock: time }, () =>
          withContext({ deadlineMs: innerMs, clock: time }, () =>
            client.call(never, { deadlineMs: callMs }),
          ),
        ),
      ),
    );
    return (reason as BobtailError<"ERR_BOBTAIL_DEADLINE">).details.elapsedMs;
  };
  expect(await elapsed(50, 90, 70)).toBe(50);
  expect(await elapsed(90, 50, 70)).toBe(50);
  expect(await elapsed(90, 70, 50)).toBe(50);
});

test("a request whose deadline has passed sends nothing", async () => {
  const { time, client } = bed(1);
  const serve = withContext({ deadlineMs: 5, clock: time }, async () => {
    await time.sleep(10);
    return reasonOf(client.call(() => "sent"));
  });
  expect(isBobtailError(await time.run(serve), "ERR_BOBTAIL_DEADLINE")).toBe(true);
  expect(client.stats().attempts).toBe(0);
});

test("once contexts are in use, calls made in an attempt after an await do not hedge either", async () => {
  const { time, client } = bed(3);
  const outer = bed(3, { clock: time, timers: time }).client;
  await time.run(
    outer.call(async () => {
      await time.sleep(1);
      await client.call(() => time.sleep(100), idempotent);
    }, idempotent),
  );
  await time.runUntilIdle();
  expect(outer.stats().hedges).toBe(1);
  expect(client.stats().hedges).toBe(0);
});

test("a deadline that is not above zero is refused, and what the function returns is passed on", () => {
  expect(() => withContext({ deadlineMs: 0 }, () => 1)).toThrow(
    /deadlineMs: expected milliseconds above 0/,
  );
  expect(withContext({}, () => 1)).toBe(1);
});
