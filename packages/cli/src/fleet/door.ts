import type { IncomingMessage, ServerResponse } from "node:http";
import { type Rng, seededRng } from "bobtail/engine";
import { type BackendCounts, emptyCounts } from "./backend-counts.ts";
import type { Fault } from "./fault.ts";
import { FaultInjector, type Hit, isSeenByHealth } from "./fault-injector.ts";
import type { FleetSetup } from "./fleet-options.ts";
import { isLarge, shapeFactor } from "./request-shape.ts";
import { drawServiceMs } from "./service-law.ts";
import { Job, VirtualQueue } from "./virtual-queue.ts";

/** The longest delay that a timer of Node takes; what is due later is armed again on the way. */
const MAX_TIMER_MS = 2_147_483_647;
/** A reset overtakes what was written just before it; after this long, headers have been read. */
const RESET_AFTER_HEADERS_MS = 5;
const MARK = "bobtail-attempt";

type BackendJob = Job<ServerResponse>;

/** Where the requests of one backend come in: its fault decides which go on to the queue of its workers. */
export class Door {
  private readonly setup: FleetSetup;
  private readonly index: number;
  private readonly lagged: (lagMs: number) => void;
  private readonly body: Buffer;
  private readonly largeBody: Buffer;
  private readonly open: Set<BackendJob>;
  /** Requests that a fault leaves without an answer, and that have not gone away. */
  private readonly silent: Set<ServerResponse>;
  private counts: BackendCounts;
  private rng: Rng;
  private injector: FaultInjector;
  private queue: VirtualQueue<ServerResponse>;
  private timer: NodeJS.Timeout | undefined;
  private timerAtMs: number;

  /** `lagged` is told how late each reply left. Backend `index` draws from a stream of its own. */
  constructor(setup: FleetSetup, index: number, lagged: (lagMs: number) => void) {
    this.setup = setup;
    this.index = index;
    this.lagged = lagged;
    this.body = Buffer.from(`backend ${index}\n`);
    this.largeBody = Buffer.alloc(setup.shapes.large?.bodyBytes ?? 0, this.body);
    this.open = new Set();
    this.silent = new Set();
    this.counts = emptyCounts();
    this.rng = this.stream();
    this.injector = new FaultInjector(this.rng.split("faults"));
    this.queue = this.emptyQueue();
    this.timer = undefined;
    this.timerAtMs = Number.POSITIVE_INFINITY;
  }

  enter(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const nowMs = performance.now();
    const target = request.url ?? "/";
    const isHealth = target === this.setup.healthPath;
    const hit = this.injector.hitAt(nowMs);
    if (isHealth) {
      if (hit !== undefined && isSeenByHealth(hit)) this.strike(hit, response);
      else answer(response, 200, "ok\n");
      return;
    }
    this.counts.received++;
    if (isMarked(request.rawHeaders)) this.counts.marked++;
    const serviceMs = this.drawMs(target, nowMs);
    if (hit === undefined) {
      this.admit(new Job(serviceMs, response), nowMs);
      return;
    }
    if (hit.kind === "fail-fast") this.counts.failed++;
    else if (hit.kind === "silent") this.counts.silenced++;
    else this.counts.reset++;
    this.strike(hit, response);
  }

  setFault(fault: Fault | undefined): void {
    const nowMs = performance.now();
    // What was due before now happens as it would have.
    this.queue.advance(nowMs);
    this.injector.set(fault, nowMs);
  }

  read(): BackendCounts {
    const { queued, running } = this.queue;
    const { counts } = this;
    const started = running + counts.served + counts.lostRunning + this.abortedCount();
    return { ...counts, started, queued, running };
  }

  /** The process dies: all that waits or runs is lost, without an answer. */
  lose(): void {
    this.queue.advance(performance.now());
    this.counts.lostQueued += this.queue.queued;
    this.counts.lostRunning += this.queue.running;
    this.open.clear();
    this.silent.clear();
    this.queue = this.emptyQueue();
  }

  /** Ends all work, answering 503 to whoever waits; counts and random streams start anew, and no fault is left. */
  reset(): void {
    const unanswered = [...[...this.open].map((job) => job.host), ...this.silent];
    this.open.clear();
    this.silent.clear();
    this.counts = emptyCounts();
    this.rng = this.stream();
    this.injector = new FaultInjector(this.rng.split("faults"));
    this.queue = this.emptyQueue();
    for (const response of unanswered) {
      if (response.headersSent) response.destroy();
      else answer(response, 503, "reset\n");
    }
    this.arm();
  }

  private stream(): Rng {
    return seededRng(this.setup.seed).split(`backend ${this.index}`);
  }

  private emptyQueue(): VirtualQueue<ServerResponse> {
    const { queueLimitMs, maxQueued, backends } = this.setup;
    const workers = backends[this.index]?.workers ?? 1;
    return new VirtualQueue(
      {
        workers,
        queueLimitMs,
        maxQueued,
        slowFactorAt: (startMs) => this.injector.slowFactorAt(startMs),
      },
      (job) => {
        this.counts.served++;
        const { shapes } = this.setup;
        const large = isLarge(shapes, job.host.req.url ?? "/");
        this.reply(job, 200, large ? this.largeBody : this.body);
      },
      (job) => {
        this.counts.timedOut++;
        this.reply(job, 503, "queued for too long\n");
      },
    );
  }

  private drawMs(target: string, nowMs: number): number {
    const { backends, shapes } = this.setup;
    const law = backends[this.index]?.law;
    if (law === undefined) throw new Error(`there is no backend ${this.index}`);
    return drawServiceMs(this.injector.lawAt(law, nowMs), this.rng) * shapeFactor(shapes, target);
  }

  private admit(job: BackendJob, nowMs: number): void {
    this.queue.arrive(job, nowMs);
    if (job.state === "refused") {
      this.counts.refused++;
      answer(job.host, 503, "queue full\n");
    } else {
      this.open.add(job);
      job.host.once("close", () => this.left(job));
    }
    this.arm();
  }

  private strike(hit: Hit, response: ServerResponse): void {
    switch (hit.kind) {
      case "fail-fast": {
        const { status = 503, afterMs = 1 } = hit;
        setTimeout(() => answer(response, status, "failed\n"), afterMs);
        return;
      }
      case "silent":
        this.silent.add(response);
        response.once("close", () => this.silent.delete(response));
        if (hit.after === "headers") this.begin(response, () => {});
        return;
      case "resets": {
        const reset = (): void => {
          response.socket?.resetAndDestroy();
        };
        if (hit.after === "accept") reset();
        else this.begin(response, () => setTimeout(reset, RESET_AFTER_HEADERS_MS));
        return;
      }
    }
  }

  /** Headers that promise the whole body, and half of it. */
  private begin(response: ServerResponse, written: () => void): void {
    const { body } = this;
    response.writeHead(200, headersOf(body.length));
    response.write(body.subarray(0, body.length / 2), written);
  }

  /** A running job that was cancelled with `abortRunning` started, and is neither running nor served. */
  private abortedCount(): number {
    return this.setup.abortRunning ? this.counts.cancelledRunning : 0;
  }

  private reply(job: BackendJob, status: number, body: string | Buffer): void {
    if (!this.open.delete(job)) return;
    this.lagged(Math.max(0, performance.now() - job.endMs));
    answer(job.host, status, body);
  }

  /** The response is over: answered, or the client went away. */
  private left(job: BackendJob): void {
    if (!this.open.delete(job)) return;
    const nowMs = performance.now();
    // What was due before now happens first: the job may have started, or even ended, unnoticed.
    this.queue.advance(nowMs);
    if (job.state === "queued") this.counts.cancelledQueued++;
    else if (job.state === "running") this.counts.cancelledRunning++;
    this.queue.cancel(job, nowMs, this.setup.abortRunning);
    this.arm();
  }

  /** One timer a backend, moved only when the next event comes sooner than it. */
  private arm(): void {
    const atMs = this.queue.nextAtMs();
    if (atMs >= this.timerAtMs) return;
    clearTimeout(this.timer);
    this.timerAtMs = atMs;
    const delayMs = Math.ceil(atMs - performance.now());
    this.timer = setTimeout(() => this.ring(), Math.min(Math.max(0, delayMs), MAX_TIMER_MS));
  }

  private ring(): void {
    this.timerAtMs = Number.POSITIVE_INFINITY;
    this.queue.advance(performance.now());
    this.arm();
  }
}

/** Names of headers come as they were sent, in any case. */
function isMarked(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === MARK.length && name.toLowerCase() === MARK) return true;
  }
  return false;
}

function answer(response: ServerResponse, status: number, body: string | Buffer): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(status, headersOf(body.length));
  response.end(body);
}

function headersOf(bodyBytes: number): Record<string, string | number> {
  return { "content-type": "text/plain", "content-length": bodyBytes };
}
