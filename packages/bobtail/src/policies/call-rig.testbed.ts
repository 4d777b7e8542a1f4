import { nth } from "../core/assert.ts";
import type { Attempt } from "./attempt.ts";
import { Call } from "./call.ts";
import { CallMachine } from "./call-machine.ts";
import type { Endpoint } from "./endpoint.ts";
import { type FakePolicy, type FakePolicyOptions, fakePolicy } from "./fake-policy.testbed.ts";
import type { Port } from "./port.ts";

export interface CallProperties {
  readonly idempotent?: boolean;
  readonly replayable?: boolean;
  readonly upperLevel?: boolean;
  readonly cost?: number;
  readonly deadlineMs?: number;
}

/** One machine in virtual time whose port writes down what it is told, in order, as plain words. */
export class CallRig implements Port {
  nowMs: number;
  readonly policy: FakePolicy;
  readonly machine: CallMachine;
  /** `send a primary`, `cancel a`, `settle`, `settle all-failed`. */
  readonly log: string[];
  readonly sent: Attempt[];
  readonly wakes: Map<Call, number>;
  /** What the port does before it returns; the test's own. */
  onSend: (a: Attempt) => void;
  onCancel: (a: Attempt) => void;
  onSettle: (c: Call) => void;

  constructor(options: FakePolicyOptions = {}) {
    this.nowMs = 0;
    this.policy = fakePolicy(options);
    this.log = [];
    this.sent = [];
    this.wakes = new Map();
    this.onSend = () => {};
    this.onCancel = () => {};
    this.onSettle = () => {};
    this.machine = new CallMachine(this.policy, this);
  }

  /** Idempotent unless said otherwise, with a deadline of 1000 ms from the start of the world. */
  start(properties: CallProperties = {}): Call {
    const c = new Call(this.policy.hedger.cls, undefined);
    c.idempotent = properties.idempotent ?? true;
    c.replayable = properties.replayable ?? true;
    c.upperLevel = properties.upperLevel ?? false;
    c.cost = properties.cost ?? 1;
    c.deadlineMs = properties.deadlineMs ?? 1000;
    this.machine.start(c, this.nowMs);
    return c;
  }

  /** Lets time pass, with every wake on time. */
  runTo(atMs: number): void {
    for (;;) {
      let next: [Call, number] | undefined;
      for (const entry of this.wakes) if (next === undefined || entry[1] < next[1]) next = entry;
      if (next === undefined || next[1] > atMs) break;
      this.wakes.delete(next[0]);
      this.nowMs = Math.max(this.nowMs, next[1]);
      this.machine.woke(next[0], this.nowMs);
    }
    this.nowMs = atMs;
  }

  /** The n-th copy sent, from 1. */
  copy(n: number): Attempt {
    return nth(this.sent, n - 1);
  }

  endpoint(index: number): Endpoint {
    return nth(this.policy.balancer.endpoints, index);
  }

  reply(n: number): void {
    this.machine.replied(this.copy(n), this.nowMs);
  }

  commit(n: number): void {
    this.machine.committed(this.copy(n), this.nowMs);
  }

  fail(n: number, how: { cause?: unknown; pushbackMs?: number; unsent?: boolean } = {}): void {
    const a = this.copy(n);
    a.unsent = how.unsent ?? false;
    this.machine.failed(a, this.nowMs, how.cause ?? `cause ${n}`, how.pushbackMs);
  }

  send(a: Attempt): void {
    this.sent.push(a);
    this.log.push(`send ${a.endpoint.name} ${a.kind}`);
    this.onSend(a);
  }

  cancel(a: Attempt): void {
    this.log.push(`cancel ${a.endpoint.name}`);
    this.onCancel(a);
  }

  wakeAt(c: Call, atMs: number): void {
    if (atMs === Number.POSITIVE_INFINITY) this.wakes.delete(c);
    else this.wakes.set(c, atMs);
  }

  settle(c: Call): void {
    this.wakes.delete(c);
    this.log.push(c.failure === undefined ? "settle" : `settle ${c.failure}`);
    this.onSettle(c);
  }

  /** Everything that should be zero when nothing is under way. */
  held(): number[] {
    const { stats } = this.machine;
    const counts = this.policy.balancer.endpoints.flatMap((e) => [
      e.outstanding,
      e.work,
      e.waiting,
      e.waitingSinceSumMs,
    ]);
    return [...counts, stats.running, stats.pending, this.wakes.size].filter((n) => n !== 0);
  }
}
