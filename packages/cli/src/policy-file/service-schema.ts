import type {
  BalanceOptions,
  BudgetOptions,
  HedgeOptions,
  LimitOptions,
  RetryOptions,
  ServiceOptions,
  TimeoutOptions,
} from "bobtail";
import { z } from "zod";
import type { CommitPoint, EndpointConfig } from "../proxy/config.ts";
import { DELAY_PATTERN, type Delay, readDelay } from "./delay.ts";
import { readEndpointUrl } from "./endpoint-url.ts";
import { choice, count, duration, field, flag, quantity, ratio, size, text } from "./fields.ts";
import { no, show } from "./units.ts";

/** Names of files, as written: relative to the policy file. */
interface TlsFiles {
  readonly serverName?: string | undefined;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly verify?: boolean | undefined;
}

/** A service as the file states it; its TLS files are not read yet. */
export interface ServiceFile {
  readonly endpoints: readonly EndpointConfig[];
  readonly options: ServiceOptions;
  readonly commit?: CommitPoint | undefined;
  readonly tls?: TlsFiles | undefined;
}

/** Kept in memory for every request under way. */
const MAX_REPLAY_BODY_BYTES = 67_108_864;

const endpointUrl = field(
  {
    type: "string",
    format: "uri",
    pattern: "^https?://",
    description: "http://host:port or https://host:port",
  },
  readEndpointUrl,
);

const endpoint = z.union([
  endpointUrl.transform((url): EndpointConfig => ({ url })),
  z.strictObject({
    url: endpointUrl,
    weight: quantity("Share of traffic relative to the others; default 1.", {
      min: 0,
      max: 1_000_000,
      exclusive: true,
    }).optional(),
    virtual: flag(
      "One address that stands for several servers (a VIP, a Kubernetes Service); default false.",
    ).optional(),
  }),
]);

const balance: z.ZodType<BalanceOptions> = z
  .strictObject({
    policy: choice(
      "How an endpoint is chosen; default two-choices. `least` scans, so at most 64 endpoints.",
      ["two-choices", "least", "round-robin", "random"],
      ["weighted", "prequal", "interpreted-stale", "bounded-hash"],
    ).optional(),
    load: choice(
      "What two-choices and least compare; default peak-ewma.",
      ["peak-ewma", "outstanding", "work"],
      ["reported"],
    ).optional(),
    choices: count("How many endpoints two-choices draws; default 2.", 2, 8).optional(),
    errorPenalty: flag("Weigh failures, whatever the policy; default true.").optional(),
    decay: duration("How fast an unused estimate fades; default 10s.").optional(),
  })
  .transform(({ decay, ...rest }) => ({ ...rest, decayMs: decay }));

const delay = field<Delay>(
  {
    type: "string",
    pattern: DELAY_PATTERN,
    description: "auto, a percentile such as p97, or a duration.",
  },
  readDelay,
);
const floor = duration("An adaptive delay is never below; default 1ms.", {
  whole: false,
}).optional();
const ceiling = duration(
  "An adaptive delay is never above; default 4 x floor when a floor is given, else 10s.",
  { whole: false },
).optional();

const hedge: z.ZodType<HedgeOptions> = z.union([
  delay.transform((afterMs): HedgeOptions => ({ afterMs })),
  z
    .strictObject({
      after: z
        .union([delay, z.strictObject({ after: delay, floor, ceiling })])
        .describe("How long a copy is waited for before the next is sent."),
      floor,
      ceiling,
      max: count("Extra copies of one call; default 1.", 1, 4).optional(),
      minSamples: count(
        "Answers that an adaptive delay needs before the first copy; default 100.",
        20,
        1_000_000,
      ).optional(),
    })
    .transform(({ after, floor, ceiling, ...rest }): HedgeOptions => {
      const nested = typeof after === "object" && "after" in after ? after : undefined;
      return {
        ...rest,
        afterMs: nested === undefined ? (after as Delay) : nested.after,
        floorMs: nested?.floor ?? floor,
        ceilingMs: nested?.ceiling ?? ceiling,
      };
    }),
]);

const budget: z.ZodType<BudgetOptions> = z
  .strictObject({
    extra: ratio("Extra attempts earned by each successful call; default 10%.", 0, 2).optional(),
    burst: count("Extra attempts that may be saved up; default 10.", 1, 10_000).optional(),
    minPerSecond: quantity("Extra attempts a second earned by time alone; default 0.", {
      min: 0,
      max: 1000,
    }).optional(),
    maxPerSecond: quantity("No more extra attempts a second than this; default: no ceiling.", {
      min: 0,
      exclusive: true,
    }).optional(),
  })
  .transform((w) => ({
    extraRatio: w.extra,
    burstCount: w.burst,
    minPerSecond: w.minPerSecond,
    maxPerSecond: w.maxPerSecond,
  }));

type RetryReason = number | "connect-failure" | "reset";

const retryReason = field<RetryReason>(
  {
    anyOf: [
      { type: "integer", minimum: 400, maximum: 599 },
      { type: "string", enum: ["connect-failure", "reset"] },
    ],
  },
  (written) => {
    if (written === "connect-failure" || written === "reset") return { ok: true, value: written };
    const status = Number.isInteger(written) ? Number(written) : 0;
    if (status >= 400 && status <= 599) return { ok: true, value: status };
    return no(
      `expected a status from 400 to 599, connect-failure or reset, received ${show(written)}`,
      "Write for example [connect-failure, reset, 502, 503, 504].",
    );
  },
);

const retry: z.ZodType<RetryOptions> = z.strictObject({
  max: count("Copies sent because one failed; default 1.", 0, 8).optional(),
  on: z
    .array(retryReason)
    .max(64)
    .describe(
      "Failures that another replica may cure; default connect-failure, reset, 502, 503, 504.",
    )
    .optional(),
});

const timeout: z.ZodType<TimeoutOptions> = z
  .strictObject({
    connect: duration("To open a connection; default 1s.").optional(),
    attempt: duration("From an attempt's launch to its answer; default: the deadline.").optional(),
    bodyIdle: duration("Between two pieces of a reply's body; default 10s.").optional(),
    keepAlive: duration("How long an idle connection is kept; default 60s.").optional(),
  })
  .transform((w) => ({
    connectMs: w.connect,
    attemptMs: w.attempt,
    bodyIdleMs: w.bodyIdle,
    keepAliveMs: w.keepAlive,
  }));

const limit: z.ZodType<LimitOptions> = z
  .strictObject({
    outstanding: count("Attempts of the service at one time; default 1024.", 1).optional(),
    perEndpoint: count("Attempts at one endpoint at one time; default 128.", 1).optional(),
    pending: count("Calls that wait when every endpoint is full; default 256.", 0).optional(),
    replayBody: size(
      "Request bodies up to this are kept so that they can be sent again; default 64KiB.",
      0,
      MAX_REPLAY_BODY_BYTES,
    ).optional(),
  })
  .transform(({ replayBody, ...rest }) => ({ ...rest, replayBodyBytes: replayBody }));

const tls: z.ZodType<TlsFiles> = z.strictObject({
  serverName: text(
    "The name in the server's certificate; default the endpoint's host.",
    253,
  ).optional(),
  ca: text("File of the authorities to believe (PEM); default those of Node.").optional(),
  cert: text("File of the client's certificate (PEM).").optional(),
  key: text("File of the client's key (PEM).").optional(),
  verify: flag("False accepts any certificate, for tests alone; default true.").optional(),
});

/** One service of the file, turned into the options of the library. */
export const serviceSchema: z.ZodType<ServiceFile> = z
  .strictObject({
    endpoints: z.array(endpoint).min(1).max(10_000).describe("Interchangeable servers."),
    balance: balance.describe("Which endpoint gets the next attempt.").optional(),
    hedge: hedge.describe("A second copy of a slow call. Absent: no call is hedged.").optional(),
    budget: budget.describe("What hedges and retries may cost together.").optional(),
    retry: retry.describe("What happens after a failure.").optional(),
    deadline: duration("A call may take this long in all; default 30s.").optional(),
    timeout: timeout.describe("Limits inside the deadline.").optional(),
    limit: limit.describe("Limits in number and size.").optional(),
    tls: tls.describe("For endpoints whose address begins with https.").optional(),
    commit: choice(
      "When a reply counts as an answer; default auto: at its headers, at the first body byte for event streams.",
      ["auto", "headers", "first-byte"],
    ).optional(),
  })
  .transform(({ endpoints, commit, tls, deadline, ...options }) => ({
    endpoints,
    options: { ...options, deadlineMs: deadline },
    commit,
    tls,
  }));
