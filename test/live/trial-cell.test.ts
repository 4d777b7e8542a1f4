import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { CommandFailure } from "../../packages/cli/src/terminal/failure.ts";
import { figuresOf } from "../../packages/cli/src/trial/cell-figures.ts";
import { type CellJob, type CellOutcome, runCell } from "../../packages/cli/src/trial/run-cell.ts";
import { trialScenarios } from "../../packages/cli/src/trial/scenarios/trial-scenarios.ts";
import type { RunningTarget, TrialTarget } from "../../packages/cli/src/trial/targets/target.ts";
import { trialTargets } from "../../packages/cli/src/trial/targets/trial-targets.ts";
import type { CellFigures } from "../../packages/cli/src/trial/trial-report.ts";

const MEAN_MS = 20;

function targetNamed(name: string): TrialTarget {
  const target = trialTargets().find((one) => one.name === name);
  if (target === undefined) throw new Error(`no target ${name}`);
  return target;
}

/** The slow scenario for a moment: one backend of ten is five times slower. */
async function tryTarget(
  target: TrialTarget,
  {
    warmupMs = 3_000,
    signal = new AbortController().signal,
    onTick = () => {},
    firstPort,
  }: Partial<Pick<CellJob, "signal" | "onTick">> & {
    readonly warmupMs?: number;
    readonly firstPort?: number;
  } = {},
): Promise<CellOutcome> {
  const scenario = trialScenarios.find(({ name }) => name === "slow");
  if (scenario === undefined) throw new Error("no scenario");
  const setup = { meanMs: MEAN_MS, backends: 10, workers: 4, loadRatio: 0.5, seed: 1 };
  const built = scenario.build({ ...setup, durationMs: 3_000, warmupMs });
  const backends = built.fleet.backends.map((backend, i) =>
    i === 0 ? { ...backend, port: firstPort } : backend,
  );
  const run = { ...built, fleet: { ...built.fleet, backends } };
  return runCell({ target, run, meanMs: MEAN_MS, factor: 1, signal, onTick });
}

function figuresIn(outcome: CellOutcome): CellFigures {
  if (!("measurement" in outcome)) throw new Error(`nothing measured: ${JSON.stringify(outcome)}`);
  return figuresOf(outcome.measurement);
}

test("Bobtail gives a slow backend less than half of its turn, and the cell leaves nothing behind", async () => {
  const outcome = await tryTarget(targetNamed("bobtail"));
  const figures = figuresIn(outcome);
  expect(figures.requests).toBe(Math.round(((9 * 200 + 40) / 2) * 3));
  expect(figures.sickShareRatio).toBeLessThan(0.05);
  // A machine with much other work makes some time out, and has others still on their way from the warm-up.
  expect(figures.failedRatio).toBeLessThan(0.5);
  expect(Math.abs(figures.extraRatio)).toBeLessThan(0.5);
  expect(outcome).toMatchObject({ config: expect.stringContaining("endpoints:") });
  const children = (): string[] =>
    process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap");
  await expect.poll(children).toEqual([]);
});

test("a fleet that cannot start is our own failing: the cell says why, and the trial goes on", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  try {
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const outcome = await tryTarget(targetNamed("bobtail"), { firstPort: port });
    expect(outcome).toMatchObject({
      kind: "broken",
      why: expect.stringMatching(new RegExp(`^the fleet did not start: .*EADDRINUSE.*${port}`)),
    });
  } finally {
    taken.close();
  }
});

test("nginx round robin gives a slow backend its turn", async (context) => {
  const target = targetNamed("nginx/round-robin");
  const found = await target.find();
  if ("missing" in found) {
    context.skip(`${found.missing}. ${found.remedy}`);
    return;
  }
  const figures = figuresIn(await tryTarget(target));
  expect(figures.sickShareRatio).toBeGreaterThan(0.08);
  expect(figures.sickShareRatio).toBeLessThan(0.12);
  // Two and a half times more than it can serve: those who wait are no longer among the fastest.
  const { p50Ms = 0, p99Ms = 0 } = figures.successOnly;
  expect(p99Ms).toBeGreaterThan(8 * p50Ms);
});

test("a target that dies in the middle is told with how it ended, and the cell is over at once", async () => {
  const target = targetNamed("bobtail");
  let running: RunningTarget | undefined;
  let ticks = 0;
  const outcome = await tryTarget(
    {
      ...target,
      async start(...args) {
        running = await target.start(...args);
        return running;
      },
    },
    {
      warmupMs: 0,
      onTick() {
        ticks++;
        if (ticks === 3 && running?.pid !== undefined) process.kill(running.pid, "SIGKILL");
      },
    },
  );
  expect(outcome).toMatchObject({
    kind: "died",
    why: expect.stringMatching(/^it ended by itself after \d+ answers, signal SIGKILL/),
  });
});

test("a target that does not start is told in its own words, and the trial may go on", async () => {
  const failure = new CommandFailure("nginx: the program ended", "It said: no such directive");
  const broken = { ...targetNamed("bobtail"), start: () => Promise.reject(failure) };
  expect(await tryTarget(broken)).toEqual({
    kind: "not-started",
    why: "nginx: the program ended. It said: no such directive",
  });
});

test("a cell that is stopped gives what it has", async () => {
  const stop = new AbortController();
  let ticks = 0;
  const outcome = await tryTarget(targetNamed("bobtail"), {
    warmupMs: 0,
    signal: stop.signal,
    onTick() {
      ticks++;
      if (ticks === 4) stop.abort();
    },
  });
  expect(outcome.kind).toBe("stopped");
  const { requests, p50 } = figuresIn(outcome);
  expect(requests).toBeGreaterThan(0);
  expect(p50).not.toBe("unbounded");
});
