import { InvalidArgumentError } from "commander";

/** A rate, or a ramp from one to another. Requests a second. */
export interface RateFlag {
  readonly fromPerSec: number;
  readonly toPerSec: number;
}

const MAX_PER_SEC = 1_000_000;
const MAX_STEPS = 200;
/** A sweep with nothing said takes about so many rates, evenly spread on a log scale. */
const SWEEP_ROWS = 8;
const NUMBER = "(\\d+(?:\\.\\d+)?)";

/** `200`, `0.5`, `200/s`, or a ramp `100..2000`. */
export function rateFlag(text: string): RateFlag {
  const parts = new RegExp(`^${NUMBER}(?:\\.\\.${NUMBER})?(?:/s)?$`).exec(text.trim());
  const fromPerSec = Number(parts?.[1]);
  const toPerSec = Number(parts?.[2] ?? parts?.[1]);
  // A ramp may begin or end at rest; a constant rate may not.
  const least = Math.max(fromPerSec, toPerSec);
  if (parts === null || !(least > 0) || least > MAX_PER_SEC)
    throw new InvalidArgumentError(
      `Expected requests a second, above 0 and at most ${MAX_PER_SEC}, as 200, or a ramp, as 100..2000.`,
    );
  return { fromPerSec, toPerSec };
}

/** `100,200,400`: one rate after the other, each for its share of the duration. */
export function stepsFlag(text: string): readonly number[] {
  const rates = text.split(",").map((part) => Number(part.trim() === "" ? Number.NaN : part));
  if (rates.length > MAX_STEPS || !rates.every((rate) => rate > 0 && rate <= MAX_PER_SEC))
    throw new InvalidArgumentError(
      `Expected up to ${MAX_STEPS} rates a second, as 100,200,400; each above 0.`,
    );
  return rates;
}

/** `50..2000:50` in steps, `50..2000:x2` by a factor, `50..2000` in about eight rows; the last rate is always among them. */
export function sweepFlag(text: string): readonly number[] {
  const parts = new RegExp(`^${NUMBER}\\.\\.${NUMBER}(?:/s)?(?::(x?)${NUMBER})?$`).exec(
    text.trim(),
  );
  const [from, to] = [Number(parts?.[1]), Number(parts?.[2])];
  if (parts === null || !(from > 0 && to > from && to <= MAX_PER_SEC))
    throw new InvalidArgumentError(
      "Expected two rates a second, the lower one first, as 50..2000, 50..2000:50 or 50..2000:x2.",
    );
  if (parts[4] === undefined) return spread(from, to);
  const isFactor = parts[3] === "x";
  const by = Number(parts[4]);
  const next = (i: number): number =>
    Number((isFactor ? from * by ** i : from + by * i).toPrecision(12));
  const rates = [from];
  for (let i = 1; next(i) < to * (1 - 1e-9); i++) {
    if (!(next(i) > next(i - 1)) || i >= MAX_STEPS)
      throw new InvalidArgumentError(
        `A step of ${isFactor ? "x" : ""}${by} does not lead from ${from} to ${to} in ${MAX_STEPS} rows.`,
      );
    rates.push(next(i));
  }
  return [...rates, to];
}

/** Evenly on a log scale, in round numbers. */
function spread(from: number, to: number): readonly number[] {
  const rates = Array.from({ length: SWEEP_ROWS - 2 }, (_, i) =>
    Number((from * (to / from) ** ((i + 1) / (SWEEP_ROWS - 1))).toPrecision(2)),
  );
  return [...new Set([from, ...rates.filter((rate) => rate > from && rate < to), to])];
}
