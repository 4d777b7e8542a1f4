import { nth } from "../core/assert.ts";
import { type Rng, seededRng } from "../core/rng.ts";
import type { Attempt } from "./attempt.ts";
import type { Balancer } from "./balancer.ts";
import { Call } from "./call.ts";
import { CallMachine } from "./call-machine.ts";
import { createBalancer } from "./create-balancer.ts";
import { Endpoint, type EndpointOptions } from "./endpoint.ts";
import type { BalanceOptions } from "./options.ts";
import type { CallPolicy, Port } from "./port.ts";

/** What the tests of the balancers run against: servers with workers and a queue, in virtual time. */
export interface ServerOptions {
  /** Default 4. */
  readonly workers?: number;
  /** Default 10. */
  readonly meanMs?: number;
  /** Default exponential; constant shows what randomness hides. */
  readonly service?: "exponential" | "constant";
  /** Share of requests that take 50 to 150 ms longer; default 0. */
  readonly stallRatio?: number;
  /** Share of requests that fail after 1 ms, without taking a worker; default 0. */
  readonly failRatio?: number;
  /** Static weight; default 1. */
  readonly weight?: number;
}

export interface FleetOptions {
  readonly balance: BalanceOptions;
  readonly servers: readonly ServerOptions[];
  readonly ratePerSec: number;
  readonly seed: number;
  /** Each has a balancer of its own; default 1. */
  readonly clients?: number;
  /** Default 0. */
  readonly maxRetries?: number;
  /** Default unlimited. */
  readonly perEndpoint?: number;
}

/** What happened in a stretch of time: of the requests that arrived in it. */
export interface Stretch {
  readonly requests: number;
  readonly failed: number;
  /** Latencies of the requests that succeeded, ascending. */
  readonly latenciesMs: readonly number[];
  /** Attempts by server, in all and as shares. */
  readonly picks: readonly number[];
  readonly shareRatios: readonly number[];
}

export function quantileMs(stretch: Stretch, quantile: number): number {
  const { latenciesMs } = stretch;
  return latenciesMs[Math.ceil(quantile * latenciesMs.length) - 1] ?? Number.NaN;
}

/** `count` equal servers, of which the first may differ. */
export function servers(
  count: number,
  first: ServerOptions = {},
  rest: ServerOptions = {},
): ServerOptions[] {
  return Array.from({ length: count }, (_, i) => (i === 0 ? { ...rest, ...first } : rest));
}

const GENEROUS: Pick<CallPolicy, "budget" | "hedger"> = {
  budget: {
    deposit() {},
    failure() {},
    tryWithdraw: () => true,
    refund() {},
  } as unknown as CallPolicy["budget"],
  hedger: {
    max: 0,
    classOf: (key: string) => ({ key, delayMs: Number.POSITIVE_INFINITY, medianMs: 0 }),
    delayMs: () => Number.POSITIVE_INFINITY,
    woken() {},
    record() {},
  },
};

class Server {
  options: ServerOptions;
  picks = 0;
  private busy = 0;
  private readonly queue: Attempt[] = [];
  private head = 0;
  private readonly fleet: Fleet;
  private readonly rng: Rng;

  constructor(options: ServerOptions, fleet: Fleet, rng: Rng) {
    this.options = options;
    this.fleet = fleet;
    this.rng = rng;
  }

  take(a: Attempt, nowMs: number): void {
    this.picks++;
    if (this.rng.next() < (this.options.failRatio ?? 0)) {
      this.fleet.at(nowMs + 1, (atMs) => machineOf(a).failed(a, atMs, "broken"));
    } else if (this.busy < (this.options.workers ?? 4)) this.begin(a, nowMs);
    else this.queue.push(a);
  }

  private begin(a: Attempt, nowMs: number): void {
    this.busy++;
    this.fleet.at(nowMs + this.serviceMs(), (atMs) => {
      this.busy--;
      const next = this.queue[this.head];
      if (next !== undefined) {
        this.head++;
        this.begin(next, atMs);
        if (this.head > 1000) this.queue.splice(0, this.head);
        if (this.head > 1000) this.head = 0;
      }
      machineOf(a).replied(a, atMs);
    });
  }

  private serviceMs(): number {
    const { meanMs = 10, service = "exponential", stallRatio = 0 } = this.options;
    const ms = service === "constant" ? meanMs : -meanMs * Math.log(1 - this.rng.next());
    return this.rng.next() < stallRatio ? ms + 50 + 100 * this.rng.next() : ms;
  }
}

interface Client {
  readonly machine: CallMachine;
  readonly balancer: Balancer;
}

function machineOf(a: Attempt): CallMachine {
  return (a.call.host as Client).machine;
}

/** Open-loop Poisson arrivals on the real call machine; every call is idempotent and unlimited in time. */
export class Fleet implements Port {
  nowMs = 0;
  readonly clients: readonly Client[];
  private readonly options: FleetOptions;
  private readonly servers = new Map<string, Server>();
  private readonly events = new EventHeap();
  private readonly arrivals: Rng;
  private readonly services: Rng;
  private latenciesMs: number[] = [];
  private failed = 0;
  private stretchFromMs = 0;

  constructor(options: FleetOptions) {
    const rng = seededRng(options.seed);
    this.options = options;
    this.arrivals = rng.split("arrivals");
    this.services = rng.split("services");
    this.clients = Array.from({ length: options.clients ?? 1 }, (_, i) => {
      const perEndpoint = options.perEndpoint ?? Number.MAX_SAFE_INTEGER;
      const balancer = createBalancer(
        { ...options.balance, perEndpoint },
        rng.split(`client ${i}`),
      );
      const limits = {
        maxRetries: options.maxRetries ?? 0,
        attemptTimeoutMs: Number.POSITIVE_INFINITY,
        maxOutstanding: Number.POSITIVE_INFINITY,
        maxPending: 1_000_000,
      };
      return { balancer, machine: new CallMachine({ ...GENEROUS, balancer, ...limits }, this) };
    });
    this.setServers(Object.fromEntries(options.servers.map((s, i) => [`s${i}`, s])));
    this.arrive(this.nextGapMs());
  }

  /** Those of the same name keep their queue; others begin empty, and removed ones finish what they have. */
  setServers(wanted: Readonly<Record<string, ServerOptions>>): void {
    for (const [name, options] of Object.entries(wanted)) {
      const known = this.servers.get(name);
      if (known === undefined)
        this.servers.set(name, new Server(options, this, this.services.split(name)));
      else known.options = options;
    }
    for (const { balancer } of this.clients) {
      const known = new Map(balancer.endpoints.map((e) => [e.name, e]));
      const endpoints = Object.entries(wanted).map(([name, { weight }]) => {
        const options: EndpointOptions = { name, weight };
        return known.get(name) ?? new Endpoint(options);
      });
      balancer.update(endpoints, this.nowMs);
    }
  }

  /** Change how one server behaves from now on. */
  change(name: string, options: ServerOptions): void {
    const server = this.servers.get(name);
    if (server !== undefined) server.options = options;
  }

  endpoint(name: string): Endpoint {
    const found = nth(this.clients, 0).balancer.endpoints.find((e) => e.name === name);
    if (found === undefined) throw new Error(`no endpoint ${name}`);
    return found;
  }

  /** Runs on for that long and tells what happened in the meantime. */
  run(seconds: number): Stretch {
    this.stretchFromMs = this.nowMs;
    this.latenciesMs = [];
    this.failed = 0;
    for (const server of this.servers.values()) server.picks = 0;
    const untilMs = this.nowMs + seconds * 1000;
    for (let next = this.events.pop(untilMs); next !== undefined; next = this.events.pop(untilMs)) {
      this.nowMs = next.atMs;
      next.run(next.atMs);
    }
    this.nowMs = untilMs;
    const picks = [...this.servers.values()].map((s) => s.picks);
    const all = picks.reduce((sum, n) => sum + n, 0);
    const shareRatios = picks.map((n) => n / all);
    const latenciesMs = Float64Array.from(this.latenciesMs).sort() as unknown as number[];
    const requests = latenciesMs.length + this.failed;
    return { requests, failed: this.failed, latenciesMs, picks, shareRatios };
  }

  at(atMs: number, run: (nowMs: number) => void): void {
    this.events.push(atMs, run);
  }

  send(a: Attempt, nowMs: number): void {
    this.servers.get(a.endpoint.name)?.take(a, nowMs);
  }

  settle(c: Call, nowMs: number): void {
    if (c.startMs < this.stretchFromMs) return;
    if (c.failure === undefined) this.latenciesMs.push(nowMs - c.startMs);
    else this.failed++;
  }

  cancel(): void {}

  wakeAt(): void {}

  private arrive(atMs: number): void {
    this.at(atMs, () => {
      this.arrive(atMs + this.nextGapMs());
      const client = nth(this.clients, this.arrivals.below(this.clients.length));
      const call = new Call(GENEROUS.hedger.classOf("any"), client);
      call.idempotent = true;
      client.machine.start(call, atMs);
    });
  }

  private nextGapMs(): number {
    return (-1000 / this.options.ratePerSec) * Math.log(1 - this.arrivals.next());
  }
}

interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly run: (nowMs: number) => void;
}

/** A binary heap by time, then by order of insertion. */
class EventHeap {
  private readonly heap: Event[] = [];
  private pushed = 0;

  push(atMs: number, run: (nowMs: number) => void): void {
    const { heap } = this;
    const event = { atMs, order: this.pushed++, run };
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, nth(heap, parent))) break;
      heap[at] = nth(heap, parent);
      at = parent;
    }
    heap[at] = event;
  }

  pop(untilMs: number): Event | undefined {
    const { heap } = this;
    const first = heap[0];
    if (first === undefined || first.atMs > untilMs) return undefined;
    const last = heap.pop() as Event;
    if (heap.length === 0) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isBefore(nth(heap, child + 1), nth(heap, child))) child++;
      if (!isBefore(nth(heap, child), last)) break;
      heap[at] = nth(heap, child);
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
