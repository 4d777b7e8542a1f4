import { checkOption } from "../core/errors.ts";
import { binomialAtLeast } from "./binomial.ts";

/**
 * Standard deviations (of the population) between the mean and `bad` equally bad ones of `hosts`: sqrt((n - b) / b).
 *
 * Bad hosts hide behind each other: three of ten stand at 1.53, and a rule of 1.9 never ejects them.
 */
export function maskedDeviation(hosts: number, bad: number): number {
  checkOption({ hosts }, "a number >= 1", hosts >= 1);
  checkOption({ bad }, `in (0, ${hosts}]`, bad > 0 && bad <= hosts);
  return Math.sqrt((hosts - bad) / bad);
}

/** Share of bad hosts from which a rule of that many deviations is blind: 1 / (1 + factor^2). */
export function blindShare(factor: number): number {
  checkOption({ factor }, "a number > 0", factor > 0);
  return 1 / (1 + factor * factor);
}

export interface ExceedanceTest {
  /** Requests of one endpoint; a whole number >= 1. */
  readonly samples: number;
  /** Share of the peers' requests beyond the bar; in (0, 1), default 0.05: the bar is their p95. */
  readonly beyondRatio?: number | undefined;
  /** Chance of a false alarm; in (0, 1), default 1e-6. */
  readonly falseAlarmRatio?: number | undefined;
}

/** Fewest requests beyond the bar that chance does not explain; `samples + 1` where no number would do. */
export function exceedanceThreshold(test: ExceedanceTest): number {
  const { samples, beyondRatio = 0.05, falseAlarmRatio = 1e-6 } = test;
  checkOption({ samples }, "a whole number >= 1", Number.isSafeInteger(samples) && samples >= 1);
  checkOption({ falseAlarmRatio }, "in (0, 1)", falseAlarmRatio > 0 && falseAlarmRatio < 1);
  let enough = samples + 1;
  let below = 0;
  while (enough - below > 1) {
    const middle = (below + enough) >> 1;
    if (binomialAtLeast(middle, { trials: samples, ratio: beyondRatio }) < falseAlarmRatio)
      enough = middle;
    else below = middle;
  }
  return enough;
}
