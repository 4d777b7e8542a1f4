import { Histogram, type Rng, seededRng } from "bobtail/engine";
import { drawServiceMs, type ServiceLaw } from "../../fleet/service-law.ts";
import { Job, VirtualQueue } from "../../fleet/virtual-queue.ts";

/** The workers that an ideal balancer uses, and what comes to them. */
export interface IdealFleet {
  /** All of them before one queue; a whole number in [1, 1,024]. */
  readonly workers: number;
  readonly ratePerSec: number;
  /** Of every worker. */
  readonly law: ServiceLaw;
  /** Requests that take longer wherever they go; the rest has factor 1. */
  readonly kinds?: readonly RequestKind[] | undefined;
}

export interface RequestKind {
  readonly shareRatio: number;
  readonly factor: number;
}

export interface IdealRun {
  /** Infinity: never. */
  readonly hedgeAfterMs: number;
  readonly requests: number;
  readonly seed: number;
}

export interface IdealOutcome {
  /** Response times in microseconds, the first twentieth of the requests left out. */
  readonly latency: Histogram;
  /** Second copies. */
  readonly extraCount: number;
}

class Request {
  readonly arrivalMs: number;
  readonly factor: number;
  readonly measured: boolean;
  readonly copies: Job<Request>[];
  answered: boolean;

  constructor(arrivalMs: number, factor: number, measured: boolean) {
    this.arrivalMs = arrivalMs;
    this.factor = factor;
    this.measured = measured;
    this.copies = [];
    this.answered = false;
  }
}

/**
 * The fleet's own queue with all workers behind it, so that no request waits while a worker is free: what no balancer
 * before separate queues can better. A request that is not answered in time has a second copy, whose service time is
 * drawn anew, as the fleet does; the copy that loses leaves the queue, or else keeps its worker to the end.
 */
export function runIdealQueue(fleet: IdealFleet, run: IdealRun): IdealOutcome {
  return new IdealQueue(fleet, run).run();
}

class IdealQueue {
  private readonly fleet: IdealFleet;
  private readonly plan: IdealRun;
  private readonly arrivals: Rng;
  private readonly services: Rng;
  private readonly queue: VirtualQueue<Request>;
  private readonly latency: Histogram;
  /** In the order in which their second copies are due. */
  private readonly open: Request[];
  private firstOpen: number;
  private extraCount: number;

  constructor(fleet: IdealFleet, plan: IdealRun) {
    const root = seededRng(plan.seed);
    this.fleet = fleet;
    this.plan = plan;
    this.arrivals = root.split("arrivals");
    this.services = root.split("services");
    this.latency = new Histogram();
    this.open = [];
    this.firstOpen = 0;
    this.extraCount = 0;
    const unlimited = { queueLimitMs: Number.POSITIVE_INFINITY, maxQueued: plan.requests * 2 };
    this.queue = new VirtualQueue(
      { workers: fleet.workers, ...unlimited },
      (job) => this.served(job),
      () => {},
    );
  }

  run(): IdealOutcome {
    const { requests } = this.plan;
    const warmUp = Math.floor(requests / 20);
    let nowMs = 0;
    for (let i = 0; i < requests; i++) {
      nowMs -= Math.log(1 - this.arrivals.next()) * (1_000 / this.fleet.ratePerSec);
      this.hedgeUntil(nowMs);
      const request = new Request(nowMs, this.drawFactor(), i >= warmUp);
      this.send(request, nowMs);
      if (this.plan.hedgeAfterMs < Number.POSITIVE_INFINITY) this.open.push(request);
    }
    this.hedgeUntil(Number.MAX_VALUE);
    this.queue.advance(Number.MAX_VALUE);
    return { latency: this.latency, extraCount: this.extraCount };
  }

  private hedgeUntil(endMs: number): void {
    const { hedgeAfterMs } = this.plan;
    for (;;) {
      const request = this.open[this.firstOpen];
      if (request === undefined || request.arrivalMs + hedgeAfterMs > endMs) return;
      this.firstOpen++;
      const atMs = request.arrivalMs + hedgeAfterMs;
      this.queue.advance(atMs);
      if (request.answered) continue;
      if (request.measured) this.extraCount++;
      this.send(request, atMs);
    }
  }

  private send(request: Request, atMs: number): void {
    const serviceMs = drawServiceMs(this.fleet.law, this.services) * request.factor;
    const job = new Job(serviceMs, request);
    request.copies.push(job);
    this.queue.arrive(job, atMs);
  }

  private served(job: Job<Request>): void {
    const request = job.host;
    if (request.answered) return;
    request.answered = true;
    if (request.measured) this.latency.record(Math.round((job.endMs - request.arrivalMs) * 1_000));
    for (const copy of request.copies) if (copy !== job) this.queue.cancel(copy, job.endMs, false);
  }

  private drawFactor(): number {
    let lot = this.arrivals.next();
    for (const { shareRatio, factor } of this.fleet.kinds ?? []) {
      lot -= shareRatio;
      if (lot < 0) return factor;
    }
    return 1;
  }
}
