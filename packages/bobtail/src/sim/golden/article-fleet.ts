import { nth } from "../../core/assert.ts";
import type { Mt19937 } from "../../core/mt19937.ts";
import type { Attempt } from "../../policies/attempt.ts";
import type { Call } from "../../policies/call.ts";
import type { CallMachine } from "../../policies/call-machine.ts";
import type { Port } from "../../policies/port.ts";
import { EventQueue } from "../event-queue.ts";

/** One backend of the balancing article: when each of its workers will be free, in seconds. */
export class ArticleBackend {
  readonly index: number;
  readonly ratePerSecond: number;
  readonly freeAtS: Float64Array;
  /** Accepted and not finished. */
  held: number;

  constructor(index: number, meanS: number, workers: number) {
    this.index = index;
    this.ratePerSecond = 1 / meanS;
    this.freeAtS = new Float64Array(workers);
    this.held = 0;
  }
}

/**
 * The article's backends as a port of the call machine: an attempt's service time is drawn when it is sent, in the article's
 * order, and one that would wait for more than the timeout is refused there and then.
 */
export class ArticleFleet implements Port {
  readonly backends: readonly ArticleBackend[];
  readonly latenciesS: number[];
  refused: number;
  toFirst: number;
  nowS: number;
  private readonly rng: Mt19937;
  private readonly timeoutS: number;
  private readonly events: EventQueue;
  private machine: CallMachine | undefined;

  constructor(backends: readonly ArticleBackend[], timeoutS: number, rng: Mt19937) {
    this.backends = backends;
    this.latenciesS = [];
    this.refused = 0;
    this.toFirst = 0;
    this.nowS = 0;
    this.rng = rng;
    this.timeoutS = timeoutS;
    this.events = new EventQueue();
    this.machine = undefined;
  }

  attach(machine: CallMachine): void {
    this.machine = machine;
  }

  /** Answers come up to that moment, that moment included. */
  advance(nowS: number): void {
    while (this.events.pop(nowS * 1000)) {
      const a = this.events.subject as Attempt;
      (a.endpoint.host as ArticleBackend).held--;
      this.machine?.replied(a, this.events.timeMs);
    }
    this.nowS = nowS;
  }

  send(a: Attempt, nowMs: number): void {
    const backend = a.endpoint.host as ArticleBackend;
    const { nowS } = this;
    if (backend.index === 0) this.toFirst++;
    let worker = 0;
    for (let i = 1; i < backend.freeAtS.length; i++)
      if ((backend.freeAtS[i] as number) < (backend.freeAtS[worker] as number)) worker = i;
    if ((backend.freeAtS[worker] as number) - nowS > this.timeoutS) {
      this.refused++;
      this.machine?.failed(a, nowMs, "would queue too long");
      return;
    }
    const startS = Math.max(nowS, backend.freeAtS[worker] as number);
    const finishS = startS + this.rng.exponential(backend.ratePerSecond);
    backend.freeAtS[worker] = finishS;
    backend.held++;
    this.latenciesS.push(finishS - nowS);
    this.events.push(finishS * 1000, 0, a);
  }

  cancel(): void {}

  wakeAt(): void {}

  settle(_call: Call): void {}

  counts(): number[] {
    return this.backends.map((backend) => backend.held);
  }
}

/** Ten backends of four workers; those listed are five times slower. */
export function articleBackends(slow: readonly number[]): ArticleBackend[] {
  return Array.from({ length: 10 }, (_, i) => {
    const factor = slow.includes(i) ? 5 : 1;
    return new ArticleBackend(i, 0.01 * factor, 4);
  });
}

/** Requests a second that keep every worker busy. */
export function articleCapacity(backends: readonly ArticleBackend[]): number {
  return backends.reduce((sum, b) => sum + b.freeAtS.length / (1 / b.ratePerSecond), 0);
}

/** The value that the article's programs print as a quantile: that of index `floor(q n)`. */
export function atIndex(sorted: readonly number[] | Float64Array, quantile: number): number {
  return nth(sorted as readonly number[], Math.floor(quantile * sorted.length));
}
