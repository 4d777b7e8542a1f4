import { nth } from "../core/assert.ts";
import { Histogram } from "../core/histogram.ts";
import { type Rng, seededRng } from "../core/rng.ts";
import type { Attempt } from "../policies/attempt.ts";
import { Call } from "../policies/call.ts";
import type { CallMachine } from "../policies/call-machine.ts";
import type { LatencyClass } from "../policies/hedger.ts";
import type { ServiceOptions } from "../policies/options.ts";
import type { Port } from "../policies/port.ts";
import { Job } from "../policies/queue.ts";
import { createService, type Service } from "../policies/service.ts";
import { EventQueue } from "./event-queue.ts";
import { compileLaw, type Draw, type Law } from "./law.ts";
import { type ServerOptions, SimServer } from "./server.ts";

/** A fleet, the clients before it and the traffic they get. */
export interface WorldOptions {
  readonly servers: readonly ServerOptions[];
  /** The size of a request: what it takes on a server of slowdown 1. */
  readonly size: Law;
  /** Copies of a request share its size (default), or draw anew. */
  readonly copies?: "same-size" | "independent" | undefined;
  readonly policy: ServiceOptions;
  /** Clients that each know only their own attempts; default 1. */
  readonly clients?: number | undefined;
  /** Poisson arrivals, all clients together, per second. */
  readonly ratePerSecond: number;
  readonly requests: number;
  /** Share of the requests, the first ones, that is not measured; default 0.1. */
  readonly warmUpRatio?: number | undefined;
  /** What a cancel does to a copy in service: it runs on (default), or its worker is free at once. */
  readonly cancelRunning?: boolean | undefined;
  readonly seed?: number | undefined;
}

const ARRIVE = 0;
const FINISH = 1;
const WAKE = 2;
const GIVE_UP = 3;
const FAIL_FAST = 4;

/** One request of the world: the call's host. */
class Request {
  readonly sizeMs: number;
  readonly measured: boolean;
  readonly client: Service;
  wake: number;

  constructor(sizeMs: number, measured: boolean, client: Service) {
    this.sizeMs = sizeMs;
    this.measured = measured;
    this.client = client;
    this.wake = -1;
  }
}

/** A discrete-event world in which the very call machine and balancers of production take the decisions. */
export class World implements Port {
  readonly servers: readonly SimServer[];
  readonly clients: readonly Service[];
  /** Latencies of measured calls that succeeded, and of all of them with failures at their elapsed time; us. */
  readonly completed: Histogram;
  readonly all: Histogram;
  measured: number;
  failed: number;
  nowMs: number;

  private readonly events: EventQueue;
  private readonly size: Draw;
  private readonly gapMs: number;
  private readonly sameSize: boolean;
  private readonly cancelsRunning: boolean;
  private readonly warmUp: number;
  private readonly requests: number;
  private readonly arrivals: Rng;
  private readonly service: Rng;
  private readonly routing: Rng;
  private readonly classes: readonly LatencyClass[];
  private arrived: number;

  constructor(options: WorldOptions) {
    const root = seededRng(options.seed ?? 1);
    this.arrivals = root.split("arrivals");
    this.service = root.split("service");
    this.routing = root.split("routing");
    this.events = new EventQueue();
    this.size = compileLaw(options.size);
    this.gapMs = 1000 / options.ratePerSecond;
    this.sameSize = options.copies !== "independent";
    this.cancelsRunning = options.cancelRunning ?? false;
    this.requests = options.requests;
    this.warmUp = Math.floor(options.requests * (options.warmUpRatio ?? 0.1));
    this.completed = new Histogram();
    this.all = new Histogram();
    this.measured = 0;
    this.failed = 0;
    this.nowMs = 0;
    this.arrived = 0;
    this.servers = options.servers.map((server, i) => new SimServer(i, server));
    const endpoints = this.servers.map((server) => ({ name: String(server.index) }));
    const count = options.clients ?? 1;
    this.clients = Array.from({ length: count }, (_, i) =>
      createService({
        options: options.policy,
        endpoints,
        port: this,
        rng: this.routing.split(`client ${i}`),
        nowMs: 0,
      }),
    );
    for (const client of this.clients) {
      for (const [i, endpoint] of client.balancer.endpoints.entries())
        endpoint.host = this.servers[i];
    }
    this.classes = this.clients.map((client) => client.hedger.classOf("request"));
  }

  /** Runs until every request has settled. */
  run(): void {
    this.scheduleArrival();
    const { events } = this;
    while (events.pop()) {
      this.nowMs = events.timeMs;
      switch (events.code) {
        case ARRIVE:
          this.arrive();
          break;
        case FINISH:
          this.finish(events.subject as Job);
          break;
        case WAKE:
          this.wake(events.subject as Call);
          break;
        case GIVE_UP:
          this.giveUp(events.subject as Job);
          break;
        case FAIL_FAST:
          this.failFast(events.subject as Attempt);
          break;
      }
    }
  }

  send(a: Attempt, nowMs: number): void {
    const server = a.endpoint.host as SimServer;
    if (server.failShare > 0 && this.service.next() < server.failShare) {
      a.host = this.events.push(nowMs + server.failAfterMs, FAIL_FAST, a);
      return;
    }
    const job = new Job(a);
    a.host = job;
    const arrival = server.queue.arrive(job, nowMs);
    if (arrival === "started") this.begin(job, server, nowMs);
    else if (arrival === "refused") machineOf(a).failed(a, nowMs, "refused");
    else if (server.queueTimeoutMs !== Number.POSITIVE_INFINITY) {
      job.timer = this.events.push(nowMs + server.queueTimeoutMs, GIVE_UP, job);
    }
  }

  cancel(a: Attempt, nowMs: number): void {
    const job = a.host;
    if (typeof job === "number") {
      this.events.remove(job);
      return;
    }
    if (!(job instanceof Job)) return;
    const server = a.endpoint.host as SimServer;
    if (job.state === "queued") {
      server.queue.drop(job);
      if (job.timer >= 0) this.events.remove(job.timer);
    } else if (this.cancelsRunning && job.state === "running") {
      this.events.remove(job.timer);
      this.startNext(job, server, nowMs);
    }
  }

  wakeAt(c: Call, atMs: number): void {
    const request = c.host as Request;
    if (request.wake >= 0) this.events.remove(request.wake);
    request.wake = atMs === Number.POSITIVE_INFINITY ? -1 : this.events.push(atMs, WAKE, c);
  }

  settle(c: Call, nowMs: number): void {
    const request = c.host as Request;
    if (request.wake >= 0) {
      this.events.remove(request.wake);
      request.wake = -1;
    }
    if (!request.measured) return;
    const us = (nowMs - c.startMs) * 1000;
    this.measured++;
    this.all.record(us);
    if (c.failure === undefined) this.completed.record(us);
    else this.failed++;
  }

  private scheduleArrival(): void {
    this.events.push(
      this.nowMs - this.gapMs * Math.log(1 - this.arrivals.next()),
      ARRIVE,
      undefined,
    );
  }

  private arrive(): void {
    const index = this.clients.length === 1 ? 0 : this.arrivals.below(this.clients.length);
    const client = nth(this.clients, index);
    const request = new Request(this.size(this.service), this.arrived >= this.warmUp, client);
    const call = new Call(nth(this.classes, index), request);
    call.idempotent = true;
    call.deadlineMs = this.nowMs + client.deadlineMs;
    if (++this.arrived < this.requests) this.scheduleArrival();
    client.machine.start(call, this.nowMs);
  }

  private begin(job: Job, server: SimServer, nowMs: number): void {
    const request = (job.host as Attempt).call.host as Request;
    const sizeMs = this.sameSize ? request.sizeMs : this.size(this.service);
    job.timer = this.events.push(nowMs + server.serviceMs(sizeMs, this.service), FINISH, job);
  }

  private startNext(job: Job, server: SimServer, nowMs: number): void {
    const next = server.queue.finish(job);
    if (next === undefined) return;
    if (next.timer >= 0) this.events.remove(next.timer);
    this.begin(next, server, nowMs);
  }

  private finish(job: Job): void {
    const a = job.host as Attempt;
    this.startNext(job, a.endpoint.host as SimServer, this.nowMs);
    machineOf(a).replied(a, this.nowMs);
  }

  private giveUp(job: Job): void {
    const a = job.host as Attempt;
    (a.endpoint.host as SimServer).queue.drop(job);
    job.timer = -1;
    machineOf(a).failed(a, this.nowMs, "queued too long");
  }

  private failFast(a: Attempt): void {
    a.host = undefined;
    machineOf(a).failed(a, this.nowMs, "failed fast");
  }

  private wake(call: Call): void {
    const request = call.host as Request;
    request.wake = -1;
    request.client.machine.woke(call, this.nowMs);
  }
}

function machineOf(a: Attempt): CallMachine {
  return (a.call.host as Request).client.machine;
}
