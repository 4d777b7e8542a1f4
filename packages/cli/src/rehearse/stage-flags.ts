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

type ByServer = ReadonlyMap<number, number>;

/** `0=5`, or `0=5,3=2`: server 0 is five times slower, server 3 twice. */
export function slowFlag(text: string, before: ByServer = new Map()): ByServer {
  return new Map([...before, ...byServer(text, "a factor, as 0=5")]);
}

/** `0=8`, or `0=8,3=2`: server 0 has eight workers, server 3 two. */
export function workersOfFlag(text: string, before: ByServer = new Map()): ByServer {
  const all = byServer(text, "a whole number of workers, as 0=8");
  if (all.some(([, workers]) => !Number.isInteger(workers) || workers > MAX_SERVERS))
    throw new InvalidArgumentError(`Expected whole numbers of workers from 1 to ${MAX_SERVERS}.`);
  return new Map([...before, ...all]);
}

function byServer(text: string, wanted: string): [server: number, value: number][] {
  return text.split(",").map((part) => {
    const [, server = "", value = ""] = /^\s*(\d{1,5})=(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    if (server === "" || !(Number(value) > 0))
      throw new InvalidArgumentError(`Expected a server from 0 and ${wanted}.`);
    return [Number(server), Number(value)];
  });
}
