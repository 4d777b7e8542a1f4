import {
  type Attempt,
  Call,
  type CallMachine,
  createService,
  type Port,
  type Rng,
  type Service,
  type ServiceOptions,
  seededRng,
} from "bobtail/engine";
import { EventQueue } from "bobtail/sim";

/** Leaves whose copies, and requests whose leaves, are slow together: the model that a plan is made with. */
export interface CorrelatedSetup {
  readonly policy: ServiceOptions;
  /** Latencies of a leaf, each as likely as the others, rising; ms. */
  readonly valuesMs: readonly number[];
  readonly servers: number;
  /** Leaves of each request. */
  readonly leaves: number;
  readonly requests: number;
  /** Requests come at random, so many a second. */
  readonly ratePerSecond: number;
  /** Chance that a second copy meets what the first met; in [0, 1]. */
  readonly replicaCorrelation: number;
  /** Share of a leaf's slowness that strikes all leaves of a request at once; in [0, 1]. */
  readonly leafCorrelation: number;
  readonly seed: number;
}

export interface CorrelatedResult {
  /** Of the requests, rising, ms. */
  readonly latenciesMs: Float64Array;
  readonly calls: number;
  readonly hedges: number;
  /** Hedges that were due and that the budget refused. */
  readonly refused: number;
}

const ARRIVE = 0;
const ANSWER = 1;
const WAKE = 2;

interface Request {
  readonly startMs: number;
  /** What strikes all of its leaves lasts so long; 0: nothing does. */
  readonly sharedMs: number;
  waiting: number;
}

/** The host of a call. */
interface Leaf {
  readonly request: Request;
  /** What the first copy takes for reasons of its own. */
  readonly ownMs: number;
  /** Pending events; -1: none. */
  wake: number;
}

/**
 * One run of the call machine, budget and balancer of production before servers without a queue, whose latencies depend
 * on each other. `World` cannot: its copies are alike or independent, and its shocks add to a latency.
 *
 * A leaf is as slow as the worse of two things: what strikes the whole request (with chance `leafCorrelation` a draw
 * from the log) and what is its own. The first holds up every copy, the second another copy may not meet. Both are
 * drawn so that a leaf without hedges has the log's latencies: with S the log's survival, c the correlation,
 * 1 - S(t) = (1 - c S(t)) (1 - own(t)).
 */
export function runCorrelated(setup: CorrelatedSetup): CorrelatedResult {
  return new CorrelatedWorld(setup).run();
}

class CorrelatedWorld implements Port {
  private readonly setup: CorrelatedSetup;
  private readonly events: EventQueue;
  private readonly arrivals: Rng;
  private readonly sizes: Rng;
  private readonly copies: Rng;
  private readonly service: Service;
  private readonly machine: CallMachine;
  private readonly latenciesMs: Float64Array;
  private settled: number;
  private nowMs: number;

  constructor(setup: CorrelatedSetup) {
    const rng = seededRng(setup.seed);
    this.setup = setup;
    this.events = new EventQueue();
    this.arrivals = rng.split("arrivals");
    this.sizes = rng.split("sizes");
    this.copies = rng.split("copies");
    this.service = createService({
      options: setup.policy,
      endpoints: Array.from({ length: setup.servers }, (_, i) => ({ name: String(i) })),
      port: this,
      rng: rng.split("routing"),
      nowMs: 0,
    });
    this.machine = this.service.machine;
    this.latenciesMs = new Float64Array(setup.requests);
    this.settled = 0;
    this.nowMs = 0;
  }

  run(): CorrelatedResult {
    const { events, setup } = this;
    let coming = setup.requests;
    this.events.push(this.gapMs(), ARRIVE, undefined);
    while (events.pop()) {
      this.nowMs = events.timeMs;
      if (events.code === ARRIVE) {
        if (--coming > 0) events.push(this.nowMs + this.gapMs(), ARRIVE, undefined);
        this.arrive();
      } else if (events.code === ANSWER) {
        const attempt = events.subject as Attempt;
        attempt.host = undefined;
        this.machine.replied(attempt, this.nowMs);
      } else {
        const call = events.subject as Call;
        (call.host as Leaf).wake = -1;
        this.machine.woke(call, this.nowMs);
      }
    }
    const { hedges, skipped } = this.machine.stats;
    return {
      latenciesMs: this.latenciesMs.sort(),
      calls: setup.requests * setup.leaves,
      hedges,
      refused: skipped.budget,
    };
  }

  send(attempt: Attempt, nowMs: number): void {
    const { request, ownMs } = attempt.call.host as Leaf;
    const ms = attempt.kind === "primary" ? ownMs : this.copyMs(ownMs);
    const endMs = Math.max(request.startMs + request.sharedMs, nowMs + ms);
    attempt.host = this.events.push(endMs, ANSWER, attempt);
  }

  cancel(attempt: Attempt): void {
    if (attempt.host !== undefined) this.events.remove(attempt.host as number);
    attempt.host = undefined;
  }

  wakeAt(call: Call, atMs: number): void {
    const leaf = call.host as Leaf;
    if (leaf.wake >= 0) this.events.remove(leaf.wake);
    leaf.wake = atMs === Number.POSITIVE_INFINITY ? -1 : this.events.push(atMs, WAKE, call);
  }

  settle(call: Call, nowMs: number): void {
    this.wakeAt(call, Number.POSITIVE_INFINITY);
    const { request } = call.host as Leaf;
    if (--request.waiting > 0) return;
    this.latenciesMs[this.settled++] = nowMs - request.startMs;
  }

  private arrive(): void {
    const { setup, service, nowMs } = this;
    const isStruck = this.sizes.next() < setup.leafCorrelation;
    const sharedMs = isStruck ? this.drawn(this.sizes.next()) : 0;
    const request: Request = { startMs: nowMs, sharedMs, waiting: setup.leaves };
    const cls = service.hedger.classOf("leaf");
    for (let i = 0; i < setup.leaves; i++) {
      const call = new Call(cls, { request, ownMs: this.ownMs(this.sizes), wake: -1 });
      call.idempotent = true;
      call.deadlineMs = nowMs + service.deadlineMs;
      this.machine.start(call, nowMs);
    }
  }

  private gapMs(): number {
    return (-1_000 / this.setup.ratePerSecond) * Math.log(1 - this.arrivals.next());
  }

  /** One that meets the same takes as long, from later on, and is of no use. */
  private copyMs(firstMs: number): number {
    const meetsTheSame = this.copies.next() < this.setup.replicaCorrelation;
    return meetsTheSame ? firstMs : this.ownMs(this.copies);
  }

  private ownMs(rng: Rng): number {
    const u = rng.next();
    const { leafCorrelation } = this.setup;
    return this.drawn((u * (1 - leafCorrelation)) / (1 - u * leafCorrelation));
  }

  private drawn(share: number): number {
    const { valuesMs } = this.setup;
    return valuesMs[Math.min(valuesMs.length - 1, Math.floor(share * valuesMs.length))] as number;
  }
}
