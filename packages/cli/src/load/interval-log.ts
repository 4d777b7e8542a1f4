import { Histogram } from "bobtail/engine";
import type { LoadInterval } from "./load-report.ts";

/** What is counted of one interval while requests that were planned in it are open. */
export interface IntervalSlot {
  readonly all: Histogram;
  infinite: number;
  sent: number;
  dropped: number;
}

/** An interval that nothing is added to any more. */
export interface SealedInterval {
  /** A histogram's bytes; undefined: nothing was recorded. */
  readonly all: Uint8Array | undefined;
  readonly infinite: number;
  readonly sent: number;
  readonly dropped: number;
}

const NOTHING: SealedInterval = { all: undefined, infinite: 0, sent: 0, dropped: 0 };

/**
 * The intervals of a run, of which only those with open requests hold a whole histogram: the others are a few hundred
 * bytes each, and their number is bounded by the plan.
 */
export class IntervalLog {
  private readonly lengthMs: number;
  private readonly sealed: SealedInterval[];
  private readonly open: Map<number, IntervalSlot>;
  /** Emptied histograms, to be used again. */
  private readonly spare: Histogram[];
  private newestIndex: number;
  private newest: IntervalSlot | undefined;

  constructor(lengthMs: number) {
    this.lengthMs = lengthMs;
    this.sealed = [];
    this.open = new Map();
    this.spare = [];
    this.newestIndex = -1;
    this.newest = undefined;
  }

  /** @param atMs - the planned moment, from the start of measuring; not below the one of the call before. */
  slotAt(atMs: number): IntervalSlot {
    const index = Math.floor(atMs / this.lengthMs);
    if (index === this.newestIndex && this.newest !== undefined) return this.newest;
    const slot = { all: this.spare.pop() ?? new Histogram(), infinite: 0, sent: 0, dropped: 0 };
    this.open.set(index, slot);
    this.newestIndex = index;
    this.newest = slot;
    return slot;
  }

  /** Every request that was planned before that moment is over, and none will be. */
  seal(beforeMs: number): void {
    while (this.sealed.length < this.newestIndex || beforeMs === Number.POSITIVE_INFINITY) {
      const index = this.sealed.length;
      if (index > this.newestIndex || (index + 1) * this.lengthMs > beforeMs) return;
      const slot = this.open.get(index);
      this.open.delete(index);
      if (slot === undefined) {
        this.sealed.push(NOTHING);
        continue;
      }
      const { all, infinite, sent, dropped } = slot;
      const bytes = all.count === 0 ? undefined : all.encode();
      this.sealed.push({ all: bytes, infinite, sent, dropped });
      all.reset();
      this.spare.push(all);
    }
  }

  /** The end of the run: all of them. */
  finish(): readonly SealedInterval[] {
    this.seal(Number.POSITIVE_INFINITY);
    this.newest = undefined;
    return this.sealed;
  }
}

/** The intervals of a run from those of its threads. `untilMs`: how much of it was measured. */
export function mergeIntervals(
  logs: readonly (readonly SealedInterval[])[],
  lengthMs: number,
  untilMs: number,
): LoadInterval[] {
  const length = Math.max(Math.ceil(untilMs / lengthMs), ...logs.map((log) => log.length));
  return Array.from({ length }, (_, index) => {
    const parts = logs.map((log) => log[index] ?? NOTHING);
    const sum = (pick: (part: SealedInterval) => number): number =>
      parts.reduce((total, part) => total + pick(part), 0);
    const startMs = index * lengthMs;
    return {
      startMs,
      lengthMs: Math.min(lengthMs, Math.max(untilMs - startMs, 0)),
      get all(): Histogram {
        return mergeHistograms(parts.flatMap(({ all }) => (all === undefined ? [] : [all])));
      },
      infinite: sum((part) => part.infinite),
      sent: sum((part) => part.sent),
      dropped: sum((part) => part.dropped),
    };
  });
}

function mergeHistograms(encoded: readonly Uint8Array[]): Histogram {
  const merged = new Histogram();
  for (const bytes of encoded) merged.add(Histogram.decode(bytes));
  return merged;
}
