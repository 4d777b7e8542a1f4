import type { Clock, Timers } from "../../core/clock.ts";
import { checkOption } from "../../core/errors.ts";
import type { ServiceOptions } from "../../policies/options.ts";
import type { TargetEndpoint, UrlEndpoint } from "./endpoint-list.ts";
import type { FetchTransport } from "./fetch-transport-port.ts";
import { checkOptionKeys, type OptionKeys, SERVICE_KEYS } from "./option-keys.ts";

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

const CLIENT_KEYS: Readonly<Record<keyof ClientOptions, OptionKeys[string]>> = {
  ...SERVICE_KEYS,
  endpoints: true,
  transport: true,
  name: true,
  classify: true,
  seed: true,
  clock: true,
  timers: true,
};

/**
 * Refuses keys that mean nothing and values of the wrong kind; the ranges of a policy are checked
 * where the policy is built. Throws `ERR_BOBTAIL_OPTION`.
 */
export function checkClientOptions(options: object): void {
  checkOptionKeys(options, CLIENT_KEYS);
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
