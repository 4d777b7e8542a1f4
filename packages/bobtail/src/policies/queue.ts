import { checkOption } from "../core/errors.ts";

/** A piece of work at a server. One shape; the owner's own state hangs on `host`. */
export class Job {
  /** 0 is served first. */
  priority: number;
  /** Work expected, in any unit; kept for load reports. */
  cost: number;
  arrivalMs: number;
  state: "new" | "queued" | "running" | "done";
  previous: Job | undefined;
  next: Job | undefined;
  /** The owner's pending timer for this job; -1: none. */
  timer: number;
  /** The owner's: when the work will be done, or how much of it is left. */
  endMs: number;
  host: unknown;

  constructor(host: unknown) {
    this.priority = 0;
    this.cost = 1;
    this.arrivalMs = 0;
    this.state = "new";
    this.previous = undefined;
    this.next = undefined;
    this.timer = -1;
    this.endMs = 0;
    this.host = host;
  }

  /** The same object for another piece of work; it must be done. Its owner sets the priority and the cost. */
  renew(): void {
    this.state = "new";
    this.timer = -1;
  }
}

/** `started`: a worker took it. `queued`: it waits. `refused`: the queue is full. */
export type Arrival = "started" | "queued" | "refused";

export interface WorkQueueOptions {
  /** Jobs in service at one time; a whole number >= 1, or Infinity. */
  readonly workers: number;
  /** Jobs that may wait; a whole number >= 0; default Infinity, for simulations only. */
  readonly maxQueued?: number | undefined;
  /** Classes of urgency, each first come first served; a whole number in [1, 16], default 1. */
  readonly priorities?: number | undefined;
}

/**
 * The queue of one server: so many workers, and jobs that wait for them, the most urgent class first and
 * within a class in order of arrival. A waiting job leaves in O(1), which is what makes cancelling worth while.
 * Knows no time: its owner says when a job is finished, and drops those that waited too long.
 */
export class WorkQueue {
  /** May change at any time; 0 pauses: running jobs go on, none is started. */
  workers: number;
  /** Jobs in service, and jobs that wait. */
  running: number;
  queued: number;
  private readonly maxQueued: number;
  private readonly heads: (Job | undefined)[];
  private readonly tails: (Job | undefined)[];

  /** Throws `ERR_BOBTAIL_OPTION` for an option out of range. */
  constructor(options: WorkQueueOptions) {
    const { workers, maxQueued = Number.POSITIVE_INFINITY, priorities = 1 } = options;
    checkOption({ workers }, "a whole number >= 1, or Infinity", isCount(workers, 1));
    checkOption({ maxQueued }, "a whole number >= 0, or Infinity", isCount(maxQueued, 0));
    checkOption(
      { priorities },
      "a whole number in [1, 16]",
      Number.isInteger(priorities) && priorities >= 1 && priorities <= 16,
    );
    this.workers = workers;
    this.running = 0;
    this.queued = 0;
    this.maxQueued = maxQueued;
    this.heads = new Array<Job | undefined>(priorities).fill(undefined);
    this.tails = new Array<Job | undefined>(priorities).fill(undefined);
  }

  arrive(job: Job, nowMs: number): Arrival {
    job.arrivalMs = nowMs;
    if (this.running < this.workers && this.queued === 0) {
      this.running++;
      job.state = "running";
      return "started";
    }
    return this.queued < this.maxQueued ? this.enqueue(job) : "refused";
  }

  private enqueue(job: Job): Arrival {
    const level = Math.min(job.priority, this.heads.length - 1);
    const tail = this.tails[level];
    job.state = "queued";
    job.previous = tail;
    if (tail === undefined) this.heads[level] = job;
    else tail.next = job;
    this.tails[level] = job;
    this.queued++;
    return "queued";
  }

  /** A running job is over, finished or given up: its worker takes the next one, which is returned. */
  finish(job: Job): Job | undefined {
    job.state = "done";
    this.running--;
    return this.startNext();
  }

  /** Puts a free worker to work: after `workers` grew, or after a pause. */
  startNext(): Job | undefined {
    if (this.queued === 0 || this.running >= this.workers) return undefined;
    const job = this.takeNext();
    this.queued--;
    this.running++;
    job.state = "running";
    return job;
  }

  /** The head of the most urgent class in which a job waits. */
  private takeNext(): Job {
    const { heads } = this;
    let level = 0;
    while (heads[level] === undefined) level++;
    const job = heads[level] as Job;
    const after = job.next;
    heads[level] = after;
    job.next = undefined;
    if (after === undefined) this.tails[level] = undefined;
    else after.previous = undefined;
    return job;
  }

  /** The job that would be started next, if one waits. */
  next(): Job | undefined {
    for (let level = 0; level < this.heads.length; level++) {
      const job = this.heads[level];
      if (job !== undefined) return job;
    }
    return undefined;
  }

  /** The job that has waited longest, of whatever class. */
  oldest(): Job | undefined {
    let oldest = this.heads[0];
    for (let level = 1; level < this.heads.length; level++) {
      const job = this.heads[level];
      if (job !== undefined && (oldest === undefined || job.arrivalMs < oldest.arrivalMs))
        oldest = job;
    }
    return oldest;
  }

  /** A waiting job leaves; the caller knows that it waits (`job.state === "queued"`). */
  drop(job: Job): void {
    const level = Math.min(job.priority, this.heads.length - 1);
    if (job.previous === undefined) this.heads[level] = job.next;
    else job.previous.next = job.next;
    if (job.next === undefined) this.tails[level] = job.previous;
    else job.next.previous = job.previous;
    job.previous = undefined;
    job.next = undefined;
    job.state = "done";
    this.queued--;
  }
}

function isCount(value: number, min: number): boolean {
  return value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && value >= min);
}
