import { checkOption } from "../../core/errors.ts";
import type {
  BalanceOptions,
  BudgetOptions,
  HedgeOptions,
  LimitOptions,
  RetryOptions,
  ServiceOptions,
  TimeoutOptions,
} from "../../policies/options.ts";

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

/** The options that are known: a record where the key holds an object of options, `true` where it holds a value. */
export type OptionKeys = Readonly<Record<string, true | Readonly<Record<string, true>>>>;

export const SERVICE_KEYS: Readonly<
  Record<keyof ServiceOptions, true | Readonly<Record<string, true>>>
> = {
  deadlineMs: true,
  balance: BALANCE,
  hedge: HEDGE,
  budget: BUDGET,
  retry: RETRY,
  timeout: TIMEOUT,
  limit: LIMIT,
};

/** Refuses keys that mean nothing and values where options belong. Throws `ERR_BOBTAIL_OPTION`. */
export function checkOptionKeys(options: object, known: OptionKeys): void {
  checkOption({ options }, "an object of options", typeof options === "object" && options !== null);
  checkKeys(options, known, "");
  for (const [key, nested] of Object.entries(known)) {
    const value = (options as Record<string, unknown>)[key];
    if (nested === true || value === undefined) continue;
    checkOption(
      { [key]: value },
      "an object of options",
      typeof value === "object" && value !== null,
    );
    checkKeys(value as object, nested, `${key}.`);
  }
}

export function checkKeys(
  given: object,
  known: Readonly<Record<string, unknown>>,
  prefix: string,
): void {
  for (const key of Object.keys(given)) {
    checkOption(
      { [`${prefix}${key}`]: (given as Record<string, unknown>)[key] },
      `a known option (${Object.keys(known).join(", ")})`,
      Object.hasOwn(known, key),
    );
  }
}
