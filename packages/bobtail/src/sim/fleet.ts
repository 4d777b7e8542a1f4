import type { Rng } from "../core/rng.ts";
import type { Attempt } from "../policies/attempt.ts";
import type { Job } from "../policies/queue.ts";
import { FAIL, FINISH, GIVE_UP } from "./event-codes.ts";
import type { EventQueue } from "./event-queue.ts";
import type { Draw } from "./law.ts";
import type { Request } from "./request.ts";
import type { SimServer } from "./server.ts";

/** Where the ends of copies go. */
export interface FleetListener {
  answered(job: Job, nowMs: number): void;
  lost(job: Job, cause: string, nowMs: number): void;
}

/** The servers at work: what happens to a copy between its arrival at one and its answer. */
export class Fleet {
  readonly servers: readonly SimServer[];
  private readonly events: EventQueue;
  private readonly listener: FleetListener;
  private readonly rng: Rng;
  /** Draws the size of each copy; undefined: copies have their request's. */
  private readonly copySize: Draw | undefined;

  constructor(
    servers: readonly SimServer[],
    events: EventQueue,
    listener: FleetListener,
    chance: { readonly rng: Rng; readonly copySize: Draw | undefined },
  ) {
    this.servers = servers;
    this.events = events;
    this.listener = listener;
    this.rng = chance.rng;
    this.copySize = chance.copySize;
  }

  deliver(job: Job, nowMs: number): void {
    const server = serverOf(job);
    server.sent++;
    if ((server.down || server.failRatio > 0) && this.failsFast(job, server, nowMs)) return;
    server.noteArrival(nowMs);
    const arrival = server.queue.arrive(job, nowMs);
    if (arrival === "started") this.begin(job, server, nowMs);
    else if (arrival === "refused") this.listener.lost(job, "queue full", nowMs);
    else if (server.giveUpEvent < 0) this.awaitGiveUp(server, job);
  }

  private failsFast(job: Job, server: SimServer, nowMs: number): boolean {
    if (!server.down && this.rng.next() >= server.failRatio) return false;
    job.timer = this.events.push(nowMs + server.failAfterMs, FAIL, job);
    return true;
  }

  finish(job: Job, nowMs: number): void {
    job.timer = -1;
    this.release(job, serverOf(job), nowMs);
    this.listener.answered(job, nowMs);
  }

  /** The job that has waited longest leaves if that is too long; often it is not, since the job it was set for was served. */
  giveUp(server: SimServer, nowMs: number): void {
    server.giveUpEvent = -1;
    const { queue, queueTimeoutMs } = server;
    const job = queue.oldest();
    if (job === undefined) return;
    if (job.arrivalMs + queueTimeoutMs > nowMs) {
      this.awaitGiveUp(server, job);
      return;
    }
    server.note(nowMs);
    queue.drop(job);
    const next = queue.oldest();
    if (next !== undefined) this.awaitGiveUp(server, next);
    this.listener.lost(job, "queued too long", nowMs);
  }

  /** One event for a whole queue, since who came first gives up first. */
  private awaitGiveUp(server: SimServer, oldest: Job): void {
    if (server.queueTimeoutMs === Number.POSITIVE_INFINITY) return;
    const atMs = oldest.arrivalMs + server.queueTimeoutMs;
    server.giveUpEvent = this.events.push(atMs, GIVE_UP, server);
  }

  fail(job: Job, nowMs: number): void {
    job.timer = -1;
    job.state = "done";
    this.listener.lost(job, serverOf(job).down ? "down" : "failed fast", nowMs);
  }

  /** A cancel has come. @param running - whether it stops a copy in service. */
  cancel(job: Job, running: boolean, nowMs: number): void {
    if (job.state === "queued") {
      const server = serverOf(job);
      server.note(nowMs);
      server.queue.drop(job);
    } else if (job.state === "running") {
      if (!running) return;
      const server = serverOf(job);
      server.busyMs -= server.speed > 0 ? job.endMs - nowMs : 0;
      this.disarm(job);
      this.release(job, server, nowMs);
    } else {
      // Not here yet, or about to fail: it never will.
      job.state = "done";
      this.disarm(job);
    }
  }

  /** The speed changes under the jobs in service: what is left of each takes longer or shorter. */
  setSpeed(server: SimServer, speed: number, nowMs: number): void {
    const before = server.speed;
    if (speed === before || server.active === undefined) return;
    server.speed = speed;
    for (const job of server.active) {
      const leftMs = before > 0 ? (job.endMs - nowMs) * before : job.endMs;
      this.disarm(job);
      if (speed > 0) {
        job.endMs = nowMs + leftMs / speed;
        job.timer = this.events.push(job.endMs, FINISH, job);
      } else job.endMs = leftMs;
      server.busyMs += (speed > 0 ? leftMs / speed : 0) - (before > 0 ? leftMs / before : 0);
    }
    server.queue.workers = speed > 0 ? server.workers : 0;
    for (let job = server.queue.startNext(); job !== undefined; job = server.queue.startNext())
      this.begin(job, server, nowMs);
  }

  /** What the server holds is lost, and until it is back it refuses. */
  crash(server: SimServer, nowMs: number): void {
    server.down = true;
    server.note(nowMs);
    const lost: Job[] = [];
    for (let job = server.queue.next(); job !== undefined; job = server.queue.next()) {
      server.queue.drop(job);
      lost.push(job);
    }
    for (const job of server.active ?? []) {
      server.queue.finish(job);
      server.busyMs -= server.speed > 0 ? job.endMs - nowMs : 0;
      lost.push(job);
    }
    if (server.active !== undefined) server.active.length = 0;
    for (const job of lost) this.disarm(job);
    for (const job of lost) this.listener.lost(job, "crashed", nowMs);
  }

  private begin(job: Job, server: SimServer, nowMs: number): void {
    const request = (job.host as Attempt).call.host as Request;
    const sizeMs = this.copySize === undefined ? request.sizeMs : this.copySize(this.rng);
    const ms = server.workMs(sizeMs, this.rng) / server.speed;
    server.started++;
    server.busyMs += ms;
    job.endMs = nowMs + ms;
    job.timer = this.events.push(job.endMs, FINISH, job);
    server.active?.push(job);
  }

  /** Its worker is free. */
  private release(job: Job, server: SimServer, nowMs: number): void {
    server.note(nowMs);
    if (server.active !== undefined) takeOut(server.active, job);
    const next = server.queue.finish(job);
    if (next !== undefined) this.begin(next, server, nowMs);
  }

  private disarm(job: Job): void {
    if (job.timer >= 0) this.stopTimer(job);
  }

  private stopTimer(job: Job): void {
    this.events.remove(job.timer);
    job.timer = -1;
  }
}

function takeOut(jobs: Job[], job: Job): void {
  const last = jobs.pop() as Job;
  if (last !== job) jobs[jobs.indexOf(job)] = last;
}

function serverOf(job: Job): SimServer {
  return (job.host as Attempt).endpoint.host as SimServer;
}
