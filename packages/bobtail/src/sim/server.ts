import type { Rng } from "../core/rng.ts";
import { type Job, WorkQueue } from "../policies/queue.ts";
import { compileLaw, type Draw } from "./law.ts";
import type { ServerOptions } from "./scenario.ts";

/** Counts above this are one: a queue that long is a collapse, whatever its length. */
const MAX_COUNTED = 1023;

/** The state of one simulated server. */
export class SimServer {
  readonly index: number;
  readonly queue: WorkQueue;
  readonly workers: number;
  readonly slowdown: number;
  readonly queueTimeoutMs: number;
  readonly failRatio: number;
  readonly failAfterMs: number;
  /** Work done in a ms of time: 1, less while it is slow, 0 while it stands still. */
  speed: number;
  down: boolean;
  /** The event at which the job that has waited longest may give up; -1: none. */
  giveUpEvent: number;
  /** Jobs in service; kept only where the speed may change. */
  readonly active: Job[] | undefined;
  /** Copies sent here, copies that started, and ms of time that workers gave them. */
  sent: number;
  started: number;
  busyMs: number;
  /** How long it held so many copies, and how many arrivals met so many; empty unless wanted. */
  occupancyMs: Float64Array;
  seen: Float64Array;
  private watched: boolean;
  private changedMs: number;
  private readonly interference: Draw | undefined;
  private readonly interferenceRatio: number;

  constructor(index: number, options: ServerOptions, dynamic: boolean) {
    const { workers = 1, maxQueued, priorities } = options;
    this.index = index;
    this.workers = workers === "unlimited" ? Number.POSITIVE_INFINITY : workers;
    this.queue = new WorkQueue({ workers: this.workers, maxQueued, priorities });
    this.slowdown = options.slowdown ?? 1;
    this.queueTimeoutMs = options.queueTimeoutMs ?? Number.POSITIVE_INFINITY;
    this.failRatio = options.failRatio ?? 0;
    this.failAfterMs = options.failAfterMs ?? 1;
    this.speed = 1;
    this.down = false;
    this.giveUpEvent = -1;
    this.active = dynamic ? [] : undefined;
    this.sent = 0;
    this.started = 0;
    this.busyMs = 0;
    this.occupancyMs = new Float64Array(0);
    this.seen = new Float64Array(0);
    this.watched = false;
    this.changedMs = 0;
    this.interferenceRatio = options.interferenceRatio ?? 1;
    this.interference =
      options.interference === undefined ? undefined : compileLaw(options.interference);
  }

  /** How much work a copy of that size is here. */
  workMs(sizeMs: number, rng: Rng): number {
    const ms = sizeMs * this.slowdown;
    return this.interference === undefined ? ms : this.disturbed(ms, this.interference, rng);
  }

  private disturbed(ms: number, interference: Draw, rng: Rng): number {
    return rng.next() < this.interferenceRatio ? ms + interference(rng) : ms;
  }

  get held(): number {
    return this.queue.running + this.queue.queued;
  }

  /** From now on, counts by time and by arrival. */
  watch(nowMs: number): void {
    this.watched = true;
    this.occupancyMs = new Float64Array(MAX_COUNTED + 1);
    this.seen = new Float64Array(MAX_COUNTED + 1);
    this.changedMs = nowMs;
  }

  /** Before every change of what it holds. */
  note(nowMs: number): void {
    if (this.watched) this.count(nowMs);
  }

  private count(nowMs: number): void {
    const held = Math.min(this.held, MAX_COUNTED);
    this.occupancyMs[held] = (this.occupancyMs[held] as number) + nowMs - this.changedMs;
    this.changedMs = nowMs;
  }

  noteArrival(nowMs: number): void {
    if (this.watched) this.countArrival(nowMs);
  }

  private countArrival(nowMs: number): void {
    this.count(nowMs);
    const held = Math.min(this.held, MAX_COUNTED);
    this.seen[held] = (this.seen[held] as number) + 1;
  }

  /** What is done from the start of measuring on. */
  resetCounts(nowMs: number): void {
    this.sent = 0;
    this.started = 0;
    this.busyMs = 0;
    if (this.watched) this.watch(nowMs);
  }
}
