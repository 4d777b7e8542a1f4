import type { Rng } from "../core/rng.ts";
import type { Balancer } from "./balancer.ts";
import type { BalanceOptions } from "./options.ts";

/** Placeholder signature: the balancers are being written. */
export function createBalancer(
  _options: BalanceOptions & { readonly perEndpoint: number },
  _rng: Rng,
): Balancer {
  throw new Error("not here yet");
}
