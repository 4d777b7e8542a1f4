import { InvalidArgumentError } from "commander";
import { readDurationMs } from "../policy-file/units.ts";

const MAX_SERVERS = 10_000;

export function countFlag(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value) || value < 1 || value > MAX_SERVERS)
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_SERVERS}.`);
  return value;
}

export function durationFlag(text: string): number {
  const ms = readDurationMs(text);
  if (!ms.ok || !(ms.value > 0))
    throw new InvalidArgumentError("Expected a duration, as 500ms or 2s.");
  return ms.value;
}

/** `0=5`, or `0=5,3=2`: server 0 is five times slower, server 3 twice. */
export function slowFlag(
  text: string,
  before: ReadonlyMap<number, number> = new Map(),
): Map<number, number> {
  const all = new Map(before);
  for (const part of text.split(",")) {
    const [, server = "", factor = ""] = /^\s*(\d{1,5})=(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    if (server === "" || !(Number(factor) > 0))
      throw new InvalidArgumentError("Expected a server from 0 and a factor, as 0=5.");
    all.set(Number(server), Number(factor));
  }
  return all;
}
