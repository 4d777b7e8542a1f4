import type { Clock, Timers } from "../core/clock.ts";
import { checkOption } from "../core/errors.ts";
import type {
  BalanceOptions,
  BudgetOptions,
  HedgeOptions,
  LimitOptions,
  RetryOptions,
  ServiceOptions,
  TimeoutOptions,
} from "../policies/options.ts";
import type { TargetEndpoint, UrlEndpoint } from "./endpoint-list.ts";
import type { FetchTransport } from "./fetch-transport-port.ts";

/** What every client takes beside its service's policy. */
export interface SharedClientOptions extends ServiceOptions {
  /** In messages, stats and diagnostics; default `client`. */
  readonly name?: string | undefined;
  /**
   * What an error thrown by the function of `call` means; default `failed` for every one.
   * `failed`: another endpoint may do better. `fatal`: it would be the same anywhere, so the call ends
   * with this error. `ignore`: it could not be placed, which is nobody's fault.
   */
  readonly classify?: ((error: unknown) => "failed" | "fatal" | "ignore") | undefined;
  /** Makes every draw of the client repeatable; a whole number, default a random one. */
  readonly seed?: number | undefined;
  /** Default the system's. With `timers` of the same make: `virtualTime()` of `bobtail/testing`, in tests. */
  readonly clock?: Clock | undefined;
  /** Default the process's one wheel. */
  readonly timers?: Timers | undefined;
}

export interface ClientOptions extends SharedClientOptions {
  /** Origins, without path or credentials; may be empty until `setEndpoints`. */
  readonly endpoints: readonly (string | URL | UrlEndpoint)[];
  /** What `fetch` goes through: `fetchTransport()` of `bobtail/undici`. Default none: only `call` works. */
  readonly transport?: FetchTransport | undefined;
}

export interface TargetClientOptions<R> extends SharedClientOptions {
  /** Named targets of the user's own: pools, clients, workers. */
  readonly endpoints: readonly TargetEndpoint<R>[];
}

type KeysOf<T> = Readonly<Record<keyof T, true>>;

const BALANCE: KeysOf<BalanceOptions> = {
  policy: true,
  load: true,
  choices: true,
  errorPenalty: true,
  decayMs: true,
};
const HEDGE: KeysOf<HedgeOptions> = {
  afterMs: true,
  max: true,
  floorMs: true,
  ceilingMs: true,
  minSamples: true,
};
const BUDGET: KeysOf<BudgetOptions> = {
  extraRatio: true,
  burstCount: true,
  minPerSecond: true,
  maxPerSecond: true,
};
const RETRY: KeysOf<RetryOptions> = { max: true, on: true };
const TIMEOUT: KeysOf<TimeoutOptions> = {
  connectMs: true,
  attemptMs: true,
  bodyIdleMs: true,
  keepAliveMs: true,
};
const LIMIT: KeysOf<LimitOptions> = {
  outstanding: true,
  perEndpoint: true,
  pending: true,
  replayBodyBytes: true,
};
/** A record where the key holds an object of options, `true` where it holds a value. */
const CLIENT: Readonly<Record<keyof ClientOptions, true | Readonly<Record<string, true>>>> = {
  endpoints: true,
  transport: true,
  name: true,
  classify: true,
  seed: true,
  clock: true,
  timers: true,
  deadlineMs: true,
  balance: BALANCE,
  hedge: HEDGE,
  budget: BUDGET,
  retry: RETRY,
  timeout: TIMEOUT,
  limit: LIMIT,
};

/**
 * Refuses keys that mean nothing and values of the wrong kind; the ranges of a policy are checked
 * where the policy is built. Throws `ERR_BOBTAIL_OPTION`.
 */
export function checkClientOptions(options: object): void {
  checkOption({ options }, "an object of options", typeof options === "object" && options !== null);
  checkKeys(options, CLIENT, "");
  for (const [key, nested] of Object.entries(CLIENT)) {
    const value = (options as Record<string, unknown>)[key];
    if (nested === true || value === undefined) continue;
    checkOption(
      { [key]: value },
      "an object of options",
      typeof value === "object" && value !== null,
    );
    checkKeys(value as object, nested, `${key}.`);
  }
  const { name, classify, seed, transport, clock, timers } = options as Partial<ClientOptions>;
  checkOption({ name }, "a name", name === undefined || (typeof name === "string" && name !== ""));
  checkOption({ classify }, "a function", classify === undefined || typeof classify === "function");
  checkOption({ seed }, "a whole number", seed === undefined || Number.isInteger(seed));
  checkOption(
    { transport: typeof transport },
    "a transport such as fetchTransport()",
    transport === undefined || typeof transport?.connect === "function",
  );
  // Deadlines of one clock on the timers of another would fire at any time.
  checkOption(
    { timers: typeof timers },
    "a clock and timers that belong together, or neither",
    (clock === undefined) === (timers === undefined),
  );
}

function checkKeys(given: object, known: Readonly<Record<string, unknown>>, prefix: string): void {
  for (const key of Object.keys(given)) {
    checkOption(
      { [`${prefix}${key}`]: (given as Record<string, unknown>)[key] },
      `no such option; known are ${Object.keys(known).join(", ")}`,
      Object.hasOwn(known, key),
    );
  }
}
