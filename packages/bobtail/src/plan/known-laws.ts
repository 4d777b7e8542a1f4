import { checkOption } from "../core/errors.ts";
import { integrate, type LatencyLaw } from "./latency-law.ts";
import { normalTail } from "./special-functions.ts";

/** Exponential; mean in ms, above 0. */
export function exponentialLaw(meanMs: number): LatencyLaw {
  checkOption({ meanMs }, "a number > 0", meanMs > 0);
  return { survival: (tMs) => (tMs <= 0 ? 1 : Math.exp(-tMs / meanMs)) };
}

/** Uniform over an interval, in ms. */
export function uniformLaw(bounds: { readonly fromMs: number; readonly toMs: number }): LatencyLaw {
  const { fromMs, toMs } = bounds;
  checkOption({ bounds }, "0 <= fromMs < toMs", fromMs >= 0 && fromMs < toMs);
  return { survival: (tMs) => Math.min(1, Math.max(0, (toMs - tMs) / (toMs - fromMs))) };
}

/** The exponential of a normal: median in ms, sigma of the logarithm. */
export function lognormalLaw(shape: {
  readonly medianMs: number;
  readonly sigma: number;
}): LatencyLaw {
  const { medianMs, sigma } = shape;
  checkOption({ shape }, "medianMs > 0 and sigma > 0", medianMs > 0 && sigma > 0);
  return { survival: (tMs) => (tMs <= 0 ? 1 : normalTail(Math.log(tMs / medianMs) / sigma)) };
}

/** A share of the latencies is longer by a stall: a fixed one, or one uniform over an interval. */
export interface Stall {
  /** In [0, 1]. */
  readonly ratio: number;
  /** Shortest stall, ms. */
  readonly fromMs: number;
  /** Longest stall, ms; equal to `fromMs` for a fixed one. */
  readonly toMs: number;
}

/** Interference now and then, on top of a law. The sum with a uniform stall is a numeric integral (1e-9). */
export function stalledLaw(base: LatencyLaw, stall: Stall): LatencyLaw {
  const { ratio, fromMs, toMs } = stall;
  checkOption({ ratio }, "a ratio in [0, 1]", ratio >= 0 && ratio <= 1);
  checkOption({ stall }, "0 <= fromMs <= toMs", fromMs >= 0 && fromMs <= toMs);
  const stalled =
    fromMs === toMs
      ? (tMs: number) => base.survival(tMs - fromMs)
      : (tMs: number) =>
          integrate((u) => base.survival(u), tMs - toMs, tMs - fromMs, 128) / (toMs - fromMs);
  return {
    survival: (tMs) =>
      tMs < 0 ? 1 : (1 - ratio) * base.survival(tMs) + (ratio === 0 ? 0 : ratio * stalled(tMs)),
  };
}
