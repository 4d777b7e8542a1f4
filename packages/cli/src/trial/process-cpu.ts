import { readdirSync, readFileSync } from "node:fs";

/** The kernel tells times to programs in hundredths of a second, whatever it counts in itself. */
const MS_PER_TICK = 10;

/**
 * User and system time of a process and of its descendants that still run, in ms; undefined where there is no
 * `/proc` that tells them (Linux has one), or no such process.
 *
 * It reads the files of those processes alone: whoever asks is sending load, and a look at all processes of a machine
 * would keep it from that for longer than a request takes.
 */
export function processCpuMs(pid: number): number | undefined {
  const own = ownCpuMs(pid);
  const children = childrenOf(pid);
  if (own === undefined || children === undefined) return undefined;
  return children.reduce((sum, child) => sum + (processCpuMs(child) ?? 0), own);
}

/** The program's name stands in brackets and may hold anything; what follows is split by spaces. */
function ownCpuMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  } catch {
    // It ended while it was read.
    return undefined;
  }
}

/** Of all of its threads; undefined where nobody tells. */
function childrenOf(pid: number): readonly number[] | undefined {
  const first = childrenOfThread(pid, String(pid));
  if (first === undefined) return undefined;
  const others = threadsOf(pid).filter((thread) => thread !== String(pid));
  return [...first, ...others.flatMap((thread) => childrenOfThread(pid, thread) ?? [])];
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function childrenOfThread(pid: number, thread: string): readonly number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
    return text
      .split(" ")
      .filter((child) => child !== "")
      .map(Number);
  } catch {
    return undefined;
  }
}
