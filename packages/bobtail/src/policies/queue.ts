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
  host: unknown;

  constructor(host: unknown) {
    this.priority = 0;
    this.cost = 1;
    this.arrivalMs = 0;
    this.state = "new";
    this.previous = undefined;
    this.next = undefined;
    this.timer = -1;
    this.host = host;
  }
}

/** `started`: a worker took it. `queued`: it waits. `refused`: the queue is full. */
export type Arrival = "started" | "queued" | "refused";

export interface WorkQueueOptions {
  /** Jobs in service at one time; a whole number >= 1. */
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
  workers: number;
  /** Jobs in service, and jobs that wait. */
  running: number;
  queued: number;
  private readonly maxQueued: number;
  private readonly heads: (Job | undefined)[];
  private readonly tails: (Job | undefined)[];

  constructor(options: WorkQueueOptions) {
    this.workers = options.workers;
    this.running = 0;
    this.queued = 0;
    this.maxQueued = options.maxQueued ?? Number.POSITIVE_INFINITY;
    const priorities = options.priorities ?? 1;
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
    if (this.queued >= this.maxQueued) return "refused";
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
    let level = 0;
    while (this.heads[level] === undefined) level++;
    const job = this.heads[level] as Job;
    this.drop(job);
    this.running++;
    job.state = "running";
    return job;
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
