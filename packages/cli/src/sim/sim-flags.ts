import { InvalidArgumentError } from "commander";
import type { Shard } from "./shard.ts";

export function countIn(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isSafeInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    return value;
  };
}

export function numberIn(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !(value >= min && value <= max))
      throw new InvalidArgumentError(`Expected a number in [${min}, ${max}].`);
    return value;
  };
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value))
    throw new InvalidArgumentError("Expected a whole number.");
  return value;
}

export function scaleFlag(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0 && value <= 1_000))
    throw new InvalidArgumentError("Expected a factor above 0 and at most 1000.");
  return value;
}

/** `2/8`: the second of eight. */
export function shardFlag(text: string): Shard {
  const parts = /^(\d{1,6})\/(\d{1,6})$/.exec(text.trim());
  const [index, count] = [Number(parts?.[1]), Number(parts?.[2])];
  if (!(count >= 1 && count <= 10_000 && index >= 1 && index <= count))
    throw new InvalidArgumentError("Expected i/n with 1 <= i <= n <= 10000, as 2/8.");
  return { index, count };
}
