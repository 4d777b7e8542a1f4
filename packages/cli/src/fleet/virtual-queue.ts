import { checkOption } from "bobtail/engine";

export interface VirtualQueueOptions {
  /** How many jobs run at one time; a whole number in [1, 1,024]. */
  readonly workers: number;
  /** A job that has waited longer is given up without using a worker; ms above 0, Infinity allowed. */
  readonly queueLimitMs: number;
  /** Jobs that may wait at one time; a whole number >= 0. One more is refused at once. */
  readonly maxQueued: number;
  /** How many times longer a service takes that begins at that moment; called once for each, in order. Default 1. */
  readonly slowFactorAt?: ((startMs: number) => number) | undefined;
}

export type JobState =
  | "new"
  | "queued"
  | "running"
  | "served"
  | "timed-out"
  | "refused"
  | "cancelled";

/** One request at one backend. `host` belongs to the caller. */
export class Job<H> {
  readonly serviceMs: number;
  readonly host: H;
  state: JobState;
  arrivalMs: number;
  startMs: number;
  /** When its worker is free again, or when the job left the queue. */
  endMs: number;
  previous: Job<H> | undefined;
  next: Job<H> | undefined;

  constructor(serviceMs: number, host: H) {
    this.serviceMs = serviceMs;
    this.host = host;
    this.state = "new";
    this.arrivalMs = 0;
    this.startMs = 0;
    this.endMs = 0;
    this.previous = undefined;
    this.next = undefined;
  }
}

/**
 * A first-come first-served queue before a few workers, kept in virtual time: `advance` may be called
 * late, and then a worker that became free at t still takes the next job at t. A late timer so delays
 * a reply, but costs no capacity, and the waiting times are those of the model and not of the machine.
 *
 * Times given to it never go back. Both callbacks run after the state has changed.
 */
export class VirtualQueue<H> {
  queued: number;
  running: number;
  private readonly options: VirtualQueueOptions;
  private readonly served: (job: Job<H>) => void;
  private readonly timedOut: (job: Job<H>) => void;
  private readonly busy: Job<H>[];
  /** The one of `busy` that ends first. */
  private soonest: Job<H> | undefined;
  private head: Job<H> | undefined;
  private tail: Job<H> | undefined;

  constructor(
    options: VirtualQueueOptions,
    served: (job: Job<H>) => void,
    timedOut: (job: Job<H>) => void,
  ) {
    const { workers, queueLimitMs, maxQueued } = options;
    checkOption(
      { workers },
      "a whole number in [1, 1024]",
      Number.isInteger(workers) && workers >= 1 && workers <= 1024,
    );
    checkOption({ queueLimitMs }, "milliseconds above 0", queueLimitMs > 0);
    checkOption(
      { maxQueued },
      "a whole number >= 0",
      Number.isSafeInteger(maxQueued) && maxQueued >= 0,
    );
    this.options = options;
    this.served = served;
    this.timedOut = timedOut;
    this.busy = [];
    this.soonest = undefined;
    this.queued = 0;
    this.running = 0;
    this.head = undefined;
    this.tail = undefined;
  }

  /** When something happens next; Infinity while the queue is idle. */
  nextAtMs(): number {
    const endMs = this.soonest?.endMs ?? Number.POSITIVE_INFINITY;
    return Math.min(endMs, this.expiryMs());
  }

  /** Everything that happened up to and including `nowMs`, in its order. */
  advance(nowMs: number): void {
    for (;;) {
      const done = this.soonest;
      const endMs = done?.endMs ?? Number.POSITIVE_INFINITY;
      const expiryMs = this.expiryMs();
      if (Math.min(endMs, expiryMs) > nowMs) return;
      // At a tie the worker is there in time: only waiting longer than the limit gives up.
      if (done !== undefined && endMs <= expiryMs) {
        this.release(done, endMs);
        done.state = "served";
        this.served(done);
      } else if (this.head !== undefined) {
        const late = this.head;
        this.unlink(late);
        late.state = "timed-out";
        late.endMs = expiryMs;
        this.timedOut(late);
      }
    }
  }

  /** Takes a worker, or a place in the queue, or is refused: read the job's state. */
  arrive(job: Job<H>, nowMs: number): void {
    this.advance(nowMs);
    job.arrivalMs = nowMs;
    if (this.running < this.options.workers) {
      this.start(job, nowMs);
    } else if (this.queued < this.options.maxQueued) {
      this.enqueue(job);
    } else {
      job.state = "refused";
      job.endMs = nowMs;
    }
  }

  /** The client went away. A job that waits gives up its place; one that runs keeps its worker, unless `abortRunning`. */
  cancel(job: Job<H>, nowMs: number, abortRunning: boolean): void {
    this.advance(nowMs);
    if (job.state === "queued") this.unlink(job);
    else if (job.state === "running" && abortRunning) this.release(job, nowMs);
    else return;
    job.state = "cancelled";
    job.endMs = nowMs;
  }

  private start(job: Job<H>, atMs: number): void {
    job.state = "running";
    job.startMs = atMs;
    job.endMs = atMs + job.serviceMs * (this.options.slowFactorAt?.(atMs) ?? 1);
    this.busy.push(job);
    this.running++;
    if (this.soonest === undefined || job.endMs < this.soonest.endMs) this.soonest = job;
  }

  /** Frees the worker of a job, which at that moment takes the next in line. */
  private release(job: Job<H>, atMs: number): void {
    const last = this.busy.pop();
    if (last !== undefined && last !== job) this.busy[this.busy.indexOf(job)] = last;
    this.running--;
    if (this.soonest === job) this.soonest = this.findSoonest();
    const next = this.head;
    if (next === undefined) return;
    this.unlink(next);
    this.start(next, atMs);
  }

  private enqueue(job: Job<H>): void {
    job.state = "queued";
    job.previous = this.tail;
    if (this.tail === undefined) this.head = job;
    else this.tail.next = job;
    this.tail = job;
    this.queued++;
  }

  private unlink(job: Job<H>): void {
    if (job.previous === undefined) this.head = job.next;
    else job.previous.next = job.next;
    if (job.next === undefined) this.tail = job.previous;
    else job.next.previous = job.previous;
    job.previous = undefined;
    job.next = undefined;
    this.queued--;
  }

  /** A scan: a backend has a handful of workers, where a heap would be slower. */
  private findSoonest(): Job<H> | undefined {
    let first: Job<H> | undefined;
    for (const job of this.busy) {
      if (first === undefined || job.endMs < first.endMs) first = job;
    }
    return first;
  }

  private expiryMs(): number {
    if (this.head === undefined) return Number.POSITIVE_INFINITY;
    return this.head.arrivalMs + this.options.queueLimitMs;
  }
}
