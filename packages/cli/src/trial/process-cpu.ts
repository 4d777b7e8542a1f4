import { readdirSync, readFileSync } from "node:fs";

/** The kernel tells times to programs in hundredths of a second, whatever it counts in itself. */
const MS_PER_TICK = 10;

interface ProcessTimes {
  readonly parent: number;
  readonly cpuMs: number;
}

/**
 * User and system time of a process and of its descendants that still run, in ms; undefined where there is no
 * `/proc` to read it from, or no such process.
 */
export function processCpuMs(pid: number): number | undefined {
  const all = readAll();
  if (!all.has(pid)) return undefined;
  let sum = 0;
  for (const [one, { cpuMs }] of all) if (descends(one, pid, all)) sum += cpuMs;
  return sum;
}

function descends(pid: number, from: number, all: ReadonlyMap<number, ProcessTimes>): boolean {
  // Parents have lower ids until ids wrap round; a loop of stale reads must end too.
  let at: number | undefined = pid;
  for (let depth = 0; at !== undefined && at > 0 && depth < 64; depth++) {
    if (at === from) return true;
    at = all.get(at)?.parent;
  }
  return false;
}

function readAll(): Map<number, ProcessTimes> {
  const all = new Map<number, ProcessTimes>();
  for (const name of namesIn("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const times = timesOf(name);
    if (times !== undefined) all.set(Number(name), times);
  }
  return all;
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** The program's name stands in brackets and may hold anything; what follows is split by spaces. */
function timesOf(pid: string): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { parent: Number(fields[1]), cpuMs: ticks * MS_PER_TICK };
  } catch {
    // It ended while it was read.
    return undefined;
  }
}
