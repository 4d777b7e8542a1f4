import type { Rng } from "../core/rng.ts";
import { WorkQueue } from "../policies/queue.ts";
import { compileLaw, type Draw, type Law } from "./law.ts";

/** One simulated server. */
export interface ServerOptions {
  /** Jobs in service at one time; a whole number >= 1, default 1. */
  readonly workers?: number | undefined;
  /** Multiplies every size that it serves; above 0, default 1. 5 is five times slower. */
  readonly slowdown?: number | undefined;
  /** Added to a copy's time here, whatever its size: interference of this server alone. Default none. */
  readonly interference?: Law | undefined;
  /** Share of copies that get the interference; in [0, 1], default 1. */
  readonly interferenceShare?: number | undefined;
  /** A copy that waited this long is answered with an error without using a worker; ms, default Infinity. */
  readonly queueTimeoutMs?: number | undefined;
  /** Copies that may wait; default Infinity. */
  readonly maxQueued?: number | undefined;
  /** Share of copies that fail at once, after `failAfterMs`; in [0, 1], default 0. */
  readonly failShare?: number | undefined;
  /** ms >= 0, default 1. */
  readonly failAfterMs?: number | undefined;
}

/** The state of one simulated server. */
export class SimServer {
  readonly index: number;
  readonly queue: WorkQueue;
  slowdown: number;
  queueTimeoutMs: number;
  failShare: number;
  failAfterMs: number;
  interferenceShare: number;
  /** Copies that started, and milliseconds of work done for them. */
  started: number;
  busyMs: number;
  private readonly interference: Draw | undefined;

  constructor(index: number, options: ServerOptions) {
    this.index = index;
    this.queue = new WorkQueue({ workers: options.workers ?? 1, maxQueued: options.maxQueued });
    this.slowdown = options.slowdown ?? 1;
    this.queueTimeoutMs = options.queueTimeoutMs ?? Number.POSITIVE_INFINITY;
    this.failShare = options.failShare ?? 0;
    this.failAfterMs = options.failAfterMs ?? 1;
    this.interferenceShare = options.interferenceShare ?? 1;
    this.started = 0;
    this.busyMs = 0;
    this.interference =
      options.interference === undefined ? undefined : compileLaw(options.interference);
  }

  /** How long a copy of that size takes here. */
  serviceMs(sizeMs: number, rng: Rng): number {
    let ms = sizeMs * this.slowdown;
    if (this.interference !== undefined && rng.next() < this.interferenceShare)
      ms += this.interference(rng);
    this.started++;
    this.busyMs += ms;
    return ms;
  }
}
