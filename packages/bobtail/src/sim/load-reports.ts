import { nth } from "../core/assert.ts";
import type { AttemptKind, AttemptOutcome } from "../policies/attempt.ts";
import type { Balancer } from "../policies/balancer.ts";
import type { Call } from "../policies/call.ts";
import type { Endpoint } from "../policies/endpoint.ts";
import { REPORT } from "./event-codes.ts";
import type { EventQueue } from "./event-queue.ts";
import type { SimServer } from "./server.ts";

/** A count for each endpoint's host, in place of the client's own. */
export interface LoadView {
  countOf(host: unknown): number;
}

/** What servers last reported of themselves: the copies that each holds, in service or waiting. */
export class LoadBoard implements LoadView {
  readonly everyMs: number;
  private readonly servers: readonly SimServer[];
  private readonly counts: Uint32Array;

  constructor(servers: readonly SimServer[], everyMs: number) {
    this.everyMs = everyMs;
    this.servers = servers;
    this.counts = new Uint32Array(servers.length);
  }

  /** Servers report, and will again; where reports have no age there is nothing to do. */
  report(events: EventQueue, nowMs: number): void {
    if (this.everyMs === 0) return;
    this.refresh();
    events.push(nowMs + this.everyMs, REPORT, this);
  }

  private refresh(): void {
    for (let i = 0; i < this.counts.length; i++) this.counts[i] = nth(this.servers, i).held;
  }

  countOf(host: unknown): number {
    const server = host as SimServer;
    return this.everyMs === 0 ? server.held : (this.counts[server.index] as number);
  }
}

/**
 * Shows a balancer the counts of the board in place of what its client counted itself. The balancer is the
 * one that runs in production: its endpoints hold the board's counts while it picks, and their own before and after.
 */
export class ReportedBalancer implements Balancer {
  private readonly inner: Balancer;
  private readonly view: LoadView;
  private own: Float64Array;

  constructor(inner: Balancer, view: LoadView) {
    this.inner = inner;
    this.view = view;
    this.own = new Float64Array(inner.endpoints.length);
  }

  get endpoints(): readonly Endpoint[] {
    return this.inner.endpoints;
  }

  pick(call: Call, kind: AttemptKind, nowMs: number): Endpoint | undefined {
    const { endpoints } = this.inner;
    for (let i = 0; i < endpoints.length; i++) {
      const e = nth(endpoints, i);
      this.own[i] = e.outstanding;
      e.outstanding = this.view.countOf(e.host);
    }
    const picked = this.inner.pick(call, kind, nowMs);
    for (let i = 0; i < endpoints.length; i++)
      nth(endpoints, i).outstanding = this.own[i] as number;
    return picked;
  }

  observe(e: Endpoint, latencyMs: number, outcome: AttemptOutcome, nowMs: number): void {
    this.inner.observe(e, latencyMs, outcome, nowMs);
  }

  update(endpoints: readonly Endpoint[], nowMs: number): void {
    this.inner.update(endpoints, nowMs);
    this.own = new Float64Array(endpoints.length);
  }
}
