import { InvalidArgumentError } from "commander";
import { readDurationMs, readRatio } from "../policy-file/units.ts";

/** What a percentile of the request is to meet. */
export interface SloFlag {
  readonly quantile: number;
  readonly withinMs: number;
}

/** `p99<50ms`, `p99.9 <= 1.5s`. */
export function readSlo(text: string): SloFlag {
  const parts = /^p(\d{1,2}(?:\.\d+)?)\s*<=?\s*(\S+)$/.exec(text.trim());
  const within = readDurationMs(parts?.[2]);
  const quantile = Number((Number(parts?.[1]) / 100).toPrecision(15));
  if (parts === null || !within.ok || !(within.value > 0) || !(quantile > 0 && quantile < 1))
    throw new InvalidArgumentError("Expected a percentile and a latency, as 'p99<50ms'.");
  return { quantile, withinMs: within.value };
}

function percent(ratio: number): string {
  return `${Number((ratio * 100).toPrecision(6))}%`;
}

/** A ratio written as 5% or 0.05, in a range. */
export function ratioIn(min: number, max: number): (text: string) => number {
  return (text) => {
    const written = text.trim();
    const plain = written === "" || written.endsWith("%") ? written : Number(written);
    const ratio = readRatio(plain);
    if (!ratio.ok || !(ratio.value >= min && ratio.value <= max))
      throw new InvalidArgumentError(
        `Expected a ratio from ${percent(min)} to ${percent(max)}, as 5% or 0.05.`,
      );
    return ratio.value;
  };
}

export function fanOutFlag(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < 1 || value > 1e6)
    throw new InvalidArgumentError("Expected a whole number from 1 to 1000000.");
  return value;
}
