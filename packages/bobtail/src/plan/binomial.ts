import { checkOption } from "../core/errors.ts";
import { incompleteBeta } from "./special-functions.ts";

/** `trials` independent tries that each succeed with probability `ratio`. */
export interface Binomial {
  /** A whole number >= 0, up to about 10^10. */
  readonly trials: number;
  /** In [0, 1]. */
  readonly ratio: number;
}

/** P(at most `successes`). Throws `ERR_BOBTAIL_OPTION` for a law out of range. */
export function binomialAtMost(successes: number, law: Binomial): number {
  checkBinomial(law);
  if (successes < 0) return 0;
  if (successes >= law.trials) return 1;
  const whole = Math.floor(successes);
  return incompleteBeta(1 - law.ratio, law.trials - whole, whole + 1);
}

/** P(at least `successes`), to full relative precision where it is small. */
export function binomialAtLeast(successes: number, law: Binomial): number {
  checkBinomial(law);
  const whole = Math.ceil(successes);
  if (whole <= 0) return 1;
  if (whole > law.trials) return 0;
  return incompleteBeta(law.ratio, whole, law.trials - whole + 1);
}

/** The smallest count whose P(at most it) is at least `quantile`; quantile in (0, 1]. */
export function binomialQuantile(quantile: number, law: Binomial): number {
  checkOption({ quantile }, "a quantile in (0, 1]", quantile > 0 && quantile <= 1);
  let below = -1;
  let enough = law.trials;
  while (enough - below > 1) {
    const middle = Math.floor((below + enough) / 2);
    if (binomialAtMost(middle, law) >= quantile) enough = middle;
    else below = middle;
  }
  return enough;
}

function checkBinomial({ trials, ratio }: Binomial): void {
  checkOption({ trials }, "a whole number >= 0", Number.isSafeInteger(trials) && trials >= 0);
  checkOption({ ratio }, "a ratio in [0, 1]", ratio >= 0 && ratio <= 1);
}
