import { assert, nth } from "../core/assert.ts";
import { checkOption } from "../core/errors.ts";
import { type Rng, seededRng } from "../core/rng.ts";
import type { Attempt } from "../policies/attempt.ts";
import type { Call } from "../policies/call.ts";
import type { CallObserver } from "../policies/observer.ts";
import type { Port } from "../policies/port.ts";
import { Job } from "../policies/queue.ts";
import { type ArrivalClock, createArrivals } from "./arrival-clock.ts";
import { type Client, createClients } from "./clients.ts";
import { DecisionDigest } from "./decision-digest.ts";
import * as code from "./event-codes.ts";
import { EventQueue } from "./event-queue.ts";
import { FaultPlan, type FaultState } from "./fault-plan.ts";
import { Fleet, type FleetListener } from "./fleet.ts";
import { LoadBoard } from "./load-reports.ts";
import { Network } from "./network.ts";
import { Recorder } from "./recorder.ts";
import { jobOf, machineOf, type Request, RequestPool, Root } from "./request.ts";
import { RequestSource } from "./request-source.ts";
import type { SimResult } from "./result.ts";
import type { WorldOptions } from "./scenario.ts";
import type { SimServer } from "./server.ts";
import { capacityPerSecond, createFaults, createServers } from "./servers.ts";
import type { WakeLane } from "./wake-lane.ts";
import { Wakes } from "./wakes.ts";

export interface WorldHooks {
  /** Watches every decision of every client. */
  readonly observer?: CallObserver | undefined;
  /** Whether a digest of all decisions is taken; default true, unless there is an observer. */
  readonly digest?: boolean | undefined;
}

/** A discrete-event world in which the very call machine and balancers of production take the decisions. */
export class World implements Port, FleetListener {
  readonly clients: readonly Client[];
  readonly fleet: Fleet;
  nowMs: number;

  private readonly options: WorldOptions;
  private readonly events: EventQueue;
  private readonly arrivals: ArrivalClock;
  private readonly source: RequestSource;
  private readonly leaves: number;
  private readonly costsSize: boolean;
  private readonly idempotent: boolean;
  private readonly extrasLast: boolean;
  private readonly cancels: "none" | "queued" | "running";
  private readonly network: Network | undefined;
  private readonly warmUp: number;
  private readonly requests: number;
  private readonly choices: Rng;
  private readonly wakes: Wakes;
  private readonly faults: FaultPlan;
  private readonly board: LoadBoard | undefined;
  private readonly recorder: Recorder;
  private readonly pool: RequestPool;
  private readonly digest: DecisionDigest | undefined;
  private arrived: number;
  private measured: boolean;
  /** Not an event, since there always is exactly one. */
  private nextArrivalMs: number;
  private settledRoots: number;

  /** Throws `ERR_BOBTAIL_OPTION` for a policy out of range; `checkScenario` tells all that is wrong with the rest. */
  constructor(options: WorldOptions, hooks: WorldHooks = {}) {
    const root = seededRng(options.seed ?? 1);
    this.options = options;
    this.choices = root.split("client");
    this.events = new EventQueue();
    this.wakes = new Wakes(this.events);
    this.source = new RequestSource(options, root.split("sizes"));
    const servers = createServers(options);
    const copySize = options.copies === "independent" ? this.source.anyKind : undefined;
    this.fleet = new Fleet(servers, this.events, this, { rng: root.split("service"), copySize });
    this.arrivals = createArrivals(
      options.arrivals,
      capacityPerSecond(options, this.source.meanMs),
      root.split("arrivals"),
    );
    const traced = options.arrivals.kind === "trace" ? options.arrivals.atMs.length : undefined;
    this.requests = Math.min(options.requests, traced ?? options.requests);
    checkOption({ requests: this.requests }, "a whole number >= 1", this.requests >= 1);
    this.leaves = options.leaves ?? 1;
    this.costsSize = options.cost === "size";
    this.idempotent = options.idempotent ?? true;
    this.extrasLast = options.extrasLast ?? false;
    this.cancels = options.cancel ?? "queued";
    this.network =
      options.network === undefined
        ? undefined
        : new Network(options.network, root.split("network"), this.events);
    this.warmUp = Math.floor(this.requests * (options.warmUpRatio ?? 0.1));
    const faults = createFaults(options, servers, root.split("faults"));
    this.faults = new FaultPlan(faults, this.fleet, this.events);
    this.board =
      options.reports === undefined ? undefined : new LoadBoard(servers, options.reports.everyMs);
    this.recorder = new Recorder(this.requests - this.warmUp, this.leaves > 1);
    this.pool = new RequestPool();
    const { observer, digest = observer === undefined } = hooks;
    this.digest = digest ? new DecisionDigest() : undefined;
    this.clients = createClients({
      options,
      kinds: this.source.kinds,
      servers,
      board: this.board,
      port: this,
      observer: observer ?? this.digest,
      rng: root.split("routing"),
    });
    this.nowMs = 0;
    this.arrived = 0;
    this.measured = false;
    this.nextArrivalMs = Number.POSITIVE_INFINITY;
    this.settledRoots = 0;
  }

  /** Runs until every request has settled. Once. */
  run(): SimResult {
    this.scheduleArrival();
    this.faults.schedule();
    this.board?.report(this.events, this.nowMs);
    while (this.settledRoots < this.requests) {
      if (this.events.pop(this.nextArrivalMs)) {
        this.nowMs = this.events.timeMs;
        const { code: kind, subject } = this.events;
        if (kind === code.FINISH) this.fleet.finish(subject as Job, this.nowMs);
        else this.handle(kind, subject);
      } else {
        assert(this.nextArrivalMs < Number.POSITIVE_INFINITY, "an open call has a deadline");
        this.nowMs = this.nextArrivalMs;
        this.arrive();
      }
    }
    const services = this.clients.flatMap((client) => client.services);
    const result = this.recorder.result(services, this.fleet.servers, this.nowMs);
    return { ...result, digests: [this.digest?.value ?? ""] };
  }

  send(a: Attempt, nowMs: number): void {
    const job = jobOf(a);
    const request = a.call.host as Request;
    job.priority = this.extrasLast && a.kind !== "primary" ? 15 : request.priority;
    if (this.network === undefined) this.fleet.deliver(job, nowMs);
    else job.timer = this.network.post(code.DELIVER, job, nowMs);
  }

  cancel(a: Attempt, nowMs: number): void {
    if (this.cancels === "none" || !(a.host instanceof Job)) return;
    if (this.network === undefined) this.cancelAt(a.host, nowMs);
    else this.network.post(code.CANCEL, a.host, nowMs);
  }

  wakeAt(c: Call, atMs: number): void {
    this.wakes.set(c.host as Request, atMs, atMs === c.deadlineMs);
  }

  settle(c: Call, nowMs: number): void {
    const request = c.host as Request;
    this.wakes.drop(request);
    this.recorder.settled(c, request, nowMs);
    this.pool.give(request);
    const { root } = request;
    if (root === undefined) this.settledRoots++;
    else if (root.leafSettled(c.failure !== undefined)) {
      this.recorder.rootSettled(root, nowMs);
      this.settledRoots++;
    }
  }

  answered(job: Job, nowMs: number): void {
    const a = job.host as Attempt;
    // Nobody waits for the answer to a copy that was superseded.
    if (!a.running) return;
    if (this.network === undefined) machineOf(a).replied(a, nowMs);
    else this.network.post(code.REPLY, a, nowMs);
  }

  lost(job: Job, cause: string, nowMs: number): void {
    const a = job.host as Attempt;
    if (!a.running) return;
    a.cause = cause;
    if (this.network === undefined) this.heardLost(a, nowMs);
    else this.network.post(code.LOST, a, nowMs);
  }

  private handle(kind: number, subject: unknown): void {
    switch (kind) {
      case code.LANE:
        this.wakeLane(subject as WakeLane);
        break;
      case code.DELIVER:
        this.delivered(subject as Job);
        break;
      case code.REPLY:
        machineOf(subject as Attempt).replied(subject as Attempt, this.nowMs);
        break;
      default:
        this.handleRare(kind, subject);
    }
  }

  private handleRare(kind: number, subject: unknown): void {
    switch (kind) {
      case code.GIVE_UP:
        this.fleet.giveUp(subject as SimServer, this.nowMs);
        break;
      case code.FAIL:
        this.fleet.fail(subject as Job, this.nowMs);
        break;
      case code.LOST:
        this.heardLost(subject as Attempt, this.nowMs);
        break;
      case code.CANCEL:
        this.cancelAt(subject as Job, this.nowMs);
        break;
      case code.WAKE:
        (subject as Request).event = -1;
        this.wake(subject as Request);
        break;
      case code.REPORT:
        (subject as LoadBoard).report(this.events, this.nowMs);
        break;
      case code.FAULT:
        this.faults.change(subject as FaultState, this.nowMs);
        break;
    }
  }

  private scheduleArrival(): void {
    this.nextArrivalMs = this.arrivals.nextMs();
    const arrivals = this.nextArrivalMs;
    if (arrivals === Number.POSITIVE_INFINITY)
      checkOption({ arrivals }, "as many arrivals as `requests`", false);
  }

  private arrive(): void {
    const number = this.arrived++;
    this.measured = number >= this.warmUp;
    if (number === this.warmUp) this.beginMeasuring();
    if (this.arrived < this.requests) this.scheduleArrival();
    else this.nextArrivalMs = Number.POSITIVE_INFINITY;
    const { clients, leaves } = this;
    const client = nth(clients, clients.length === 1 ? 0 : this.choices.below(clients.length));
    const kind = this.source.begin(number);
    if (leaves === 1) this.startLeaf(client, 0, kind, undefined);
    else {
      const root = new Root(this.nowMs, this.measured, leaves);
      const shards = client.services.length;
      for (let leaf = 0; leaf < leaves; leaf++) this.startLeaf(client, leaf % shards, kind, root);
    }
  }

  private startLeaf(client: Client, shard: number, kind: number, root: Root | undefined): void {
    const { source, nowMs } = this;
    const service = nth(client.services, shard);
    const request = this.pool.take(nth(nth(client.classes, shard), kind), service.machine);
    request.sizeMs = source.sizeMs();
    request.priority = nth(source.kinds, kind).priority;
    request.measured = this.measured;
    request.root = root;
    const { call } = request;
    call.idempotent = this.idempotent;
    call.deadlineMs = nowMs + service.deadlineMs;
    if (this.costsSize) call.cost = request.sizeMs;
    this.recorder.started(nowMs);
    service.machine.start(call, nowMs);
  }

  private beginMeasuring(): void {
    const { servers } = this.fleet;
    if (this.options.occupancy === true) for (const server of servers) server.watch(this.nowMs);
    const services = this.clients.flatMap((client) => client.services);
    this.recorder.begin(services, servers, this.nowMs);
  }

  private delivered(job: Job): void {
    job.timer = -1;
    // Its cancel overtook it.
    if (job.state === "new") this.fleet.deliver(job, this.nowMs);
  }

  private heardLost(a: Attempt, nowMs: number): void {
    machineOf(a).failed(a, nowMs, a.cause);
  }

  private cancelAt(job: Job, nowMs: number): void {
    this.fleet.cancel(job, this.cancels === "running", nowMs);
  }

  private wake(request: Request): void {
    request.machine.woke(request.call, this.nowMs);
  }

  private wakeLane(lane: WakeLane): void {
    for (let r = lane.due(this.nowMs); r !== undefined; r = lane.due(this.nowMs)) this.wake(r);
  }
}
