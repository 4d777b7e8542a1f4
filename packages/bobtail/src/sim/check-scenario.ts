import { isBobtailError } from "../core/errors.ts";
import { seededRng } from "../core/rng.ts";
import type { ServiceOptions } from "../policies/options.ts";
import { createService } from "../policies/service.ts";
import {
  BOOLEAN,
  type Check,
  count,
  either,
  kindOf,
  listOf,
  MS,
  MS_ABOVE_0,
  numberIn,
  objectOf,
  oneOf,
  PLAIN,
  type Problem,
  RATE,
  RATIO,
  recordOf,
  TEXT,
} from "./checks.ts";
import { type Law, meanOf } from "./law.ts";
import { checkLaw } from "./law-check.ts";
import type { Scenario } from "./scenario.ts";

/** What came of a scenario file: the scenario, or all that is wrong with it. */
export type CheckedScenario =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Looks at plain data as a YAML or JSON file gives it, and finds every mistake at once (at most 50). */
export function checkScenario(input: unknown): CheckedScenario {
  const problems: Problem[] = [];
  WHOLE(input, "", problems);
  if (problems.length === 0) checkTogether(input as Scenario, problems);
  return problems.length === 0
    ? { ok: true, scenario: input as Scenario }
    : { ok: false, problems };
}

const FAULT: Check = objectOf(
  {
    kind: oneOf(["pause", "slow", "crash"]),
    atMs: MS,
    forMs: MS_ABOVE_0,
    everyMs: MS_ABOVE_0,
    factor: numberIn({ min: 0, above: true }),
  },
  ["kind", "atMs", "forMs"],
);

const SERVER: Check = objectOf({
  count: count(1, 10_000),
  weight: numberIn({ min: 0, above: true }),
  virtual: BOOLEAN,
  workers: either(count(1, 100_000), oneOf(["unlimited"])),
  slowdown: numberIn({ min: 0, above: true }),
  interference: checkLaw,
  interferenceRatio: RATIO,
  queueTimeoutMs: MS_ABOVE_0,
  maxQueued: count(0),
  priorities: count(1, 16),
  failRatio: RATIO,
  failAfterMs: MS,
  faults: listOf(FAULT),
});

const EVEN = {
  ratePerSecond: numberIn({ min: 0, above: true }),
  load: numberIn({ min: 0, above: true, max: 10 }),
};

const ARRIVALS: Check = kindOf(
  {
    poisson: EVEN,
    uniform: EVEN,
    "on-off": { onPerSecond: RATE, onMs: MS_ABOVE_0, offPerSecond: RATE, offMs: MS_ABOVE_0 },
    ramp: {
      fromPerSecond: RATE,
      toPerSecond: numberIn({ min: 0, above: true }),
      overMs: MS_ABOVE_0,
    },
    steps: {
      steps: listOf(
        objectOf({ ratePerSecond: RATE, forMs: MS_ABOVE_0 }, ["ratePerSecond", "forMs"]),
        1,
      ),
    },
    trace: { atMs: listOf(MS, 1), sizeMs: listOf(MS, 1) },
  },
  ["ratePerSecond", "load", "sizeMs"],
);

const POLICY: Check = (value, path, problems) => {
  const before = problems.length;
  POLICY_KEYS(value, path, problems);
  if (problems.length > before) return;
  try {
    createService({
      options: value as ServiceOptions,
      endpoints: [{ name: "0" }, { name: "1" }],
      port: { send() {}, cancel() {}, wakeAt() {}, settle() {} },
      rng: seededRng(1),
      nowMs: 0,
    });
  } catch (error) {
    if (!isBobtailError(error, "ERR_BOBTAIL_OPTION")) throw error;
    const { option, expected } = error.details;
    const reason = error.message.replace(/^.*received /, "is ");
    problems.push({ path: `${path}.${option}`, reason, remedy: `give ${expected}` });
  }
};

const POLICY_KEYS: Check = objectOf({
  balance: objectOf({
    policy: PLAIN,
    load: PLAIN,
    choices: PLAIN,
    errorPenalty: BOOLEAN,
    decayMs: MS_ABOVE_0,
  }),
  hedge: objectOf(
    {
      afterMs: either(PLAIN, objectOf({ quantile: PLAIN }, ["quantile"])),
      max: PLAIN,
      floorMs: MS,
      ceilingMs: MS,
      minSamples: PLAIN,
    },
    ["afterMs"],
  ),
  budget: objectOf({
    extraRatio: PLAIN,
    burstCount: PLAIN,
    minPerSecond: RATE,
    maxPerSecond: RATE,
  }),
  retry: objectOf({ max: PLAIN, on: listOf(PLAIN) }),
  deadlineMs: MS_ABOVE_0,
  timeout: objectOf({
    connectMs: MS_ABOVE_0,
    attemptMs: MS_ABOVE_0,
    bodyIdleMs: MS_ABOVE_0,
    keepAliveMs: MS_ABOVE_0,
  }),
  limit: objectOf({
    outstanding: PLAIN,
    perEndpoint: PLAIN,
    pending: PLAIN,
    replayBodyBytes: PLAIN,
  }),
});

const WHOLE: Check = objectOf(
  {
    name: TEXT,
    policy: POLICY,
    policies: recordOf(POLICY),
    runs: count(1, 1000),
    seed: numberIn({ whole: true }),
    servers: listOf(SERVER, 1),
    shards: count(1, 10_000),
    size: checkLaw,
    classes: listOf(
      objectOf({ name: TEXT, share: RATIO, size: checkLaw, priority: count(0, 15) }, [
        "name",
        "share",
        "size",
      ]),
      1,
    ),
    copies: oneOf(["same-size", "independent"]),
    cost: oneOf(["one", "size"]),
    arrivals: ARRIVALS,
    requests: count(1, 1e9),
    warmUpRatio: numberIn({ min: 0, max: 0.9 }),
    leaves: count(1, 10_000),
    shock: objectOf({ share: RATIO, law: checkLaw }, ["share", "law"]),
    clients: count(1, 10_000),
    network: checkLaw,
    cancel: oneOf(["none", "queued", "running"]),
    extrasLast: BOOLEAN,
    idempotent: BOOLEAN,
    reports: objectOf({ everyMs: MS }, ["everyMs"]),
    chores: objectOf(
      {
        everyMs: MS_ABOVE_0,
        forMs: MS_ABOVE_0,
        factor: numberIn({ min: 0, above: true }),
        placement: oneOf(["aligned", "scattered", "staggered"]),
      },
      ["everyMs", "forMs", "placement"],
    ),
    occupancy: BOOLEAN,
  },
  ["servers", "arrivals", "requests"],
);

/** What no field can know alone. */
function checkTogether(s: Scenario, problems: Problem[]): void {
  const add = (path: string, reason: string, remedy: string) =>
    problems.push({ path, reason, remedy });
  if ((s.policy === undefined) === (s.policies === undefined))
    add(
      "policy",
      "and policies: one of them is wanted",
      "give a policy, or several by name under policies",
    );
  if (s.policies !== undefined && Object.keys(s.policies).length === 0)
    add("policies", "is empty", "give at least one policy by name");
  const hasTraceSizes = s.arrivals.kind === "trace" && s.arrivals.sizeMs !== undefined;
  if (!hasTraceSizes && (s.size === undefined) === (s.classes === undefined))
    add(
      "size",
      "and classes: one of them is wanted",
      "give the law of all sizes, or classes with a law each",
    );
  const shares = (s.classes ?? []).reduce((sum, c) => sum + c.share, 0);
  if (s.classes !== undefined && Math.abs(shares - 1) > 1e-9)
    add("classes", `have shares that sum to ${shares}`, "make them sum to 1");
  checkTraffic(s, add);
  for (const [i, server] of s.servers.entries()) {
    for (const [k, { everyMs, forMs }] of (server.faults ?? []).entries()) {
      if (everyMs !== undefined && everyMs <= forMs)
        add(
          `servers[${i}].faults[${k}].everyMs`,
          `is ${everyMs}, within the fault`,
          `give more than forMs, ${forMs}`,
        );
    }
  }
  if (s.chores !== undefined && s.chores.everyMs <= s.chores.forMs)
    add("chores.everyMs", `is ${s.chores.everyMs}`, `give more than forMs, ${s.chores.forMs}`);
  if (s.extrasLast === true && s.servers.some((server) => (server.priorities ?? 1) < 2))
    add(
      "extrasLast",
      "needs servers with two classes of urgency",
      "give every server priorities: 2",
    );
}

function checkTraffic(
  s: Scenario,
  add: (path: string, reason: string, remedy: string) => void,
): void {
  const { arrivals } = s;
  if (arrivals.kind === "trace") {
    const late = arrivals.atMs.findIndex((ms, i) => i > 0 && ms < (arrivals.atMs[i - 1] as number));
    if (late > 0)
      add(`arrivals.atMs[${late}]`, "comes before the one ahead of it", "sort the trace by time");
    const sizes = arrivals.sizeMs?.length ?? arrivals.atMs.length;
    if (sizes !== arrivals.atMs.length)
      add(
        "arrivals.sizeMs",
        `has ${sizes} entries for ${arrivals.atMs.length} arrivals`,
        "give one size an arrival",
      );
  } else if (arrivals.kind === "steps") {
    if (arrivals.steps.every((step) => step.ratePerSecond === 0))
      add("arrivals.steps", "bring no request", "give one step a rate above 0");
  } else if (arrivals.kind === "on-off") {
    if (arrivals.onPerSecond + arrivals.offPerSecond === 0)
      add("arrivals", "brings no request", "give onPerSecond or offPerSecond above 0");
  } else if (arrivals.kind !== "ramp") {
    const given: Readonly<Record<string, unknown>> = { ...arrivals };
    const hasLoad = given.load !== undefined;
    if (hasLoad === (given.ratePerSecond !== undefined))
      add("arrivals", "wants a rate or a load", "give either ratePerSecond or load");
    else if (hasLoad) checkLoad(s, add);
  }
}

function checkLoad(s: Scenario, add: (path: string, reason: string, remedy: string) => void): void {
  const laws: Law[] = s.classes === undefined ? [s.size as Law] : s.classes.map((c) => c.size);
  if (laws.some((law) => law !== undefined && !Number.isFinite(meanOf(law))))
    add("arrivals.load", "has no meaning for sizes without a mean", "give ratePerSecond");
  if (s.servers.some((server) => server.workers === "unlimited"))
    add("arrivals.load", "has no meaning for servers without limit", "give ratePerSecond");
}
