import { no, type Reading, readDurationMs, show } from "./units.ts";

/** How long a call waits before its next copy: as {@link HedgeOptions.afterMs} of the library. */
export type Delay = number | { readonly quantile: number } | "auto";

export const DELAY_PATTERN = "^(auto|p[0-9]{1,2}(\\.[0-9]+)?|[0-9]+(\\.[0-9]+)?(ms|s|m|h))$";

/** `auto`, a percentile such as `p97` or `p99.9`, or a duration. */
export function readDelay(written: unknown): Reading<Delay> {
  if (written === "auto") return { ok: true, value: "auto" };
  const percentile = typeof written === "string" ? /^p(\d{1,2}(?:\.\d+)?)$/.exec(written) : null;
  if (percentile !== null) {
    const quantile = Number((Number(percentile[1]) / 100).toPrecision(15));
    return quantile > 0 && quantile < 1
      ? { ok: true, value: { quantile } }
      : no(`${show(written)} is not a percentile between p0 and p100`, "Write p95, p97 or p99.");
  }
  const fixed = readDurationMs(written);
  if (fixed.ok) return fixed;
  if (typeof written === "number") return fixed;
  return no(
    `expected auto, a percentile or a duration, received ${show(written)}`,
    "Write auto, p97 or 12ms.",
  );
}
