import { checkOption } from "../core/errors.ts";
import { checkFanOut } from "./fan-out.ts";
import { meanWait } from "./queueing.ts";

export interface Subset {
  /** Endpoints in all; a whole number >= 1. */
  readonly endpoints: number;
  /** Endpoints that one client knows; a whole number in [1, endpoints]. */
  readonly size: number;
}

/** Chance that all of a random subset are among the `bad` endpoints: hypergeometric. */
export function allBadRatio({ endpoints, size }: Subset, bad: number): number {
  checkSubset({ endpoints, size });
  checkOption(
    { bad },
    `a whole number in [0, ${endpoints}]`,
    Number.isInteger(bad) && bad >= 0 && bad <= endpoints,
  );
  let chance = 1;
  for (let i = 0; i < size; i++) chance *= Math.max(0, bad - i) / (endpoints - i);
  return chance;
}

/** How much longer requests wait at a pool of the subset's size than at one pool of all endpoints; in mean service times. */
export function poolingLoss(
  { endpoints, size }: Subset,
  { loadRatio, workers = 1 }: { readonly loadRatio: number; readonly workers?: number },
): number {
  checkSubset({ endpoints, size });
  return (
    meanWait({ loadRatio, workers: size * workers }) -
    meanWait({ loadRatio, workers: endpoints * workers })
  );
}

export interface SubsetNeeds {
  /** Endpoints in all; a whole number >= 1. */
  readonly endpoints: number;
  /** Endpoints that are bad at one time, at worst; a whole number in [0, endpoints), default a tenth, rounded up. */
  readonly bad?: number | undefined;
  /** Chance, at most, that a client knows bad endpoints only; in (0, 1), default 1e-6. */
  readonly allBadRatio?: number | undefined;
  /** Load of the endpoints; in [0, 1), default 0.7. */
  readonly loadRatio?: number | undefined;
  /** Workers of one endpoint; default 1. */
  readonly workers?: number | undefined;
  /** Longer wait through the smaller pool that is accepted; mean service times > 0, default 0.05. */
  readonly maxPoolingLoss?: number | undefined;
}

/** Fewest endpoints that leave two choices their effect, whatever else is asked. */
const DEFAULT_SIZE = 12;

/** The smallest subset that meets every need, never below 12 nor above all endpoints. */
export function subsetSize(needs: SubsetNeeds): number {
  const { endpoints, loadRatio = 0.7, workers = 1, maxPoolingLoss = 0.05 } = needs;
  checkFanOut(endpoints);
  const bad = needs.bad ?? Math.ceil(endpoints / 10);
  const accepted = needs.allBadRatio ?? 1e-6;
  checkOption(
    { bad },
    `in [0, ${endpoints})`,
    Number.isInteger(bad) && bad >= 0 && bad < endpoints,
  );
  checkOption({ allBadRatio: accepted }, "in (0, 1)", accepted > 0 && accepted < 1);
  checkOption({ maxPoolingLoss }, "a number > 0", maxPoolingLoss > 0);
  const first = Math.min(DEFAULT_SIZE, endpoints);
  for (let size = first; size < endpoints; size++) {
    const subset = { endpoints, size };
    if (
      allBadRatio(subset, bad) <= accepted &&
      poolingLoss(subset, { loadRatio, workers }) <= maxPoolingLoss
    )
      return size;
  }
  return endpoints;
}

function checkSubset({ endpoints, size }: Subset): void {
  checkFanOut(endpoints);
  checkOption(
    { size },
    `a whole number in [1, ${endpoints}]`,
    Number.isInteger(size) && size >= 1 && size <= endpoints,
  );
}
