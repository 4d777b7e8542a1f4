import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Rng, seededRng } from "bobtail/engine";
import type { BackendCounts, FleetSetup } from "./fleet-options.ts";
import { drawServiceMs } from "./service-law.ts";
import { Job, VirtualQueue } from "./virtual-queue.ts";

/** More connections than this are closed at once: above every limit that a client of the fleet has. */
const MAX_CONNECTIONS = 8_192;

/** The longest delay that a timer of Node takes; what is due later is armed again on the way. */
const MAX_TIMER_MS = 2_147_483_647;

/** One sick or healthy server: HTTP at the door, the queue of its few workers behind it. */
export interface BackendServer {
  listen(): Promise<number>;
  counts(): BackendCounts;
  /** Ends all work, answering 503 to whoever waits; counts and random stream start anew. */
  reset(): void;
  close(): void;
}

type BackendJob = Job<ServerResponse>;

/** `lagged` is told how late each reply left. Backend `index` draws from a stream of its own. */
export function createBackendServer(
  setup: FleetSetup,
  index: number,
  lagged: (lagMs: number) => void,
): BackendServer {
  const door = new Door(setup, index, lagged);
  const server = createServer((request, response) => door.enter(request, response));
  // A backend that closes idle connections would make its clients meet stale ones.
  server.keepAliveTimeout = 0;
  server.maxConnections = MAX_CONNECTIONS;
  return {
    listen: () => listen(server),
    counts: () => door.read(),
    reset: () => door.reset(),
    close() {
      door.reset();
      server.close();
      server.closeAllConnections();
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1_024 }, () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}

class Door {
  private readonly setup: FleetSetup;
  private readonly index: number;
  private readonly lagged: (lagMs: number) => void;
  private readonly body: string;
  private readonly open: Set<BackendJob>;
  private counts: BackendCounts;
  private rng: Rng;
  private queue: VirtualQueue<ServerResponse>;
  private timer: NodeJS.Timeout | undefined;
  private timerAtMs: number;

  constructor(setup: FleetSetup, index: number, lagged: (lagMs: number) => void) {
    this.setup = setup;
    this.index = index;
    this.lagged = lagged;
    this.body = `backend ${index}\n`;
    this.open = new Set();
    this.counts = emptyCounts();
    this.rng = this.stream();
    this.queue = this.emptyQueue();
    this.timer = undefined;
    this.timerAtMs = Number.POSITIVE_INFINITY;
  }

  enter(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    if (request.url === this.setup.healthPath) {
      answer(response, 200, "ok\n");
      return;
    }
    this.counts.received++;
    const law = this.setup.backends[this.index]?.law;
    if (law === undefined) return;
    const job: BackendJob = new Job(drawServiceMs(law, this.rng), response);
    this.queue.arrive(job, performance.now());
    if (job.state === "refused") {
      this.counts.refused++;
      answer(response, 503, "queue full\n");
    } else {
      this.open.add(job);
      response.once("close", () => this.left(job));
    }
    this.arm();
  }

  read(): BackendCounts {
    const { queued, running } = this.queue;
    const { counts } = this;
    const started = running + counts.served + this.abortedCount();
    return { ...counts, started, queued, running };
  }

  reset(): void {
    const unanswered = [...this.open];
    this.open.clear();
    this.counts = emptyCounts();
    this.rng = this.stream();
    this.queue = this.emptyQueue();
    for (const job of unanswered) answer(job.host, 503, "reset\n");
    this.arm();
  }

  private stream(): Rng {
    return seededRng(this.setup.seed).split(`backend ${this.index}`);
  }

  private emptyQueue(): VirtualQueue<ServerResponse> {
    const { queueLimitMs, maxQueued, backends } = this.setup;
    const workers = backends[this.index]?.workers ?? 1;
    return new VirtualQueue(
      { workers, queueLimitMs, maxQueued },
      (job) => {
        this.counts.served++;
        this.reply(job, 200, this.body);
      },
      (job) => {
        this.counts.timedOut++;
        this.reply(job, 503, "queued for too long\n");
      },
    );
  }

  /** A running job that was cancelled with `abortRunning` started, and is neither running nor served. */
  private abortedCount(): number {
    return this.setup.abortRunning ? this.counts.cancelledRunning : 0;
  }

  private reply(job: BackendJob, status: number, body: string): void {
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

function answer(response: ServerResponse, status: number, body: string): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(status, { "content-type": "text/plain", "content-length": body.length });
  response.end(body);
}

function emptyCounts(): BackendCounts {
  return {
    received: 0,
    started: 0,
    served: 0,
    timedOut: 0,
    refused: 0,
    cancelledQueued: 0,
    cancelledRunning: 0,
    queued: 0,
    running: 0,
  };
}
