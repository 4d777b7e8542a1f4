import type { Duplex } from "node:stream";
import { type Attempt, Call, type CallMachine, Wakeable } from "bobtail/engine";
import type {
  Inbound,
  InboundEvents,
  Leg,
  LegEvents,
  LegFailure,
  OutboundRequest,
} from "./engine.ts";
import { CODED, failureReasonOf, STALLED } from "./exchange-failure.ts";
import type { ExchangeHost } from "./exchange-host.ts";
import { type FailureReason, failureReply } from "./failure-reply.ts";
import { OutboundHead } from "./outbound-head.ts";
import { pushbackOf, rawText } from "./reply-head.ts";
import { ReplyRelay } from "./reply-relay.ts";
import { ReplyWriter } from "./reply-writer.ts";
import { RequestBody } from "./request-body.ts";
import { isSafeMethod, type RequestHead } from "./request-head.ts";
import { outboundOf, type RouteTarget, type ServiceRuntime } from "./service-runtime.ts";

/**
 * One request from its headers to the end of its answer: the call's driver. It gives the machine what
 * the sockets report, and does what the machine decides.
 */
export class Exchange extends Wakeable implements InboundEvents, LegEvents {
  readonly call: Call;
  readonly inbound: Inbound;
  readonly target: RouteTarget;
  readonly writer: ReplyWriter;
  readonly path: string;
  readonly arrivedMs: number;
  /** Set when the answer is of our own making. */
  reason: FailureReason | undefined;
  private readonly runtime: ServiceRuntime;
  private readonly machine: CallMachine;
  private readonly host: ExchangeHost;
  private readonly request: OutboundHead;
  private readonly relay: ReplyRelay;
  private body: RequestBody | undefined;
  /** The leg whose head is being looked at: its body is started by the return value, not by `resume`. */
  private receiving: Leg | undefined;
  private trailers: readonly string[] | undefined;
  private callWakeMs: number;
  private isTunnel: boolean;
  private isDone: boolean;

  constructor(inbound: Inbound, target: RouteTarget, head: RequestHead, host: ExchangeHost) {
    super();
    const nowMs = host.clock.nowMs();
    const { runtime } = target;
    this.inbound = inbound;
    this.target = target;
    this.path = head.path;
    this.runtime = runtime;
    this.machine = runtime.service.machine;
    this.host = host;
    this.writer = new ReplyWriter(inbound);
    this.relay = new ReplyRelay(this.writer, runtime.bodyIdleMs);
    this.arrivedMs = nowMs;
    this.reason = undefined;
    this.body = undefined;
    this.receiving = undefined;
    this.trailers = undefined;
    this.callWakeMs = Number.POSITIVE_INFINITY;
    this.isTunnel = false;
    this.isDone = false;

    const call = new Call(target.classOf(inbound.method), this);
    call.idempotent = isSafeMethod(inbound.method) || head.hasIdempotencyKey;
    call.upperLevel = head.isNoHedge;
    call.deadlineMs = nowMs + Math.min(runtime.service.deadlineMs, head.deadlineMs);
    this.call = call;
    this.request = new OutboundHead(inbound.method, head, runtime.isHedging);
    inbound.peer.running.add(this);
  }

  /** Reads the body as far as it must be known, then starts the call. */
  begin(bodyLength: number, upgrade: string): void {
    if (upgrade !== "") {
      // A conversation cannot be had twice; only a connection that could not be opened is tried elsewhere.
      this.request.upgrade = upgrade;
      this.call.idempotent = false;
    }
    if (bodyLength === 0) {
      this.start();
      return;
    }
    const limits = { length: bodyLength, keepBytes: this.runtime.keepBodyBytes };
    this.body = new RequestBody(this.inbound, this.request, limits);
    if (this.body.begin()) this.start();
  }

  bodyChunk(chunk: Buffer): void {
    if (!this.isDone && this.body?.add(chunk)) this.start();
  }

  bodyEnd(): void {
    if (!this.isDone && this.body?.end()) this.start();
  }

  drained(): void {
    this.relay.drained(this.host.clock.nowMs());
  }

  gone(): void {
    // A tunnel sees the end of both its sides by itself.
    if (this.isDone || this.isTunnel) return;
    this.writer.abandon();
    const nowMs = this.host.clock.nowMs();
    this.machine.aborted(this.call, nowMs);
    // Not started yet, or over with the last real answer still on its way.
    this.finish(nowMs);
  }

  // The machine's side.

  send(a: Attempt): void {
    const leg = outboundOf(a.endpoint).leg(a, this);
    a.host = leg;
    leg.start();
  }

  wakeAt(atMs: number): void {
    this.callWakeMs = atMs;
    this.arm();
  }

  override fire(nowMs: number): void {
    if (nowMs >= this.relay.idleWakeMs) this.checkStall(nowMs);
    if (nowMs >= this.callWakeMs) {
      this.callWakeMs = Number.POSITIVE_INFINITY;
      this.machine.woke(this.call, nowMs);
    }
    if (!this.isDone) this.arm();
  }

  settled(nowMs: number): void {
    this.callWakeMs = Number.POSITIVE_INFINITY;
    const { failure } = this.call;
    const last = failure === "all-failed" ? this.relay.takeHeld() : undefined;
    if (last !== undefined) {
      this.serveLast(last, nowMs);
      return;
    }
    if (failure === undefined) this.writer.end(this.trailers);
    else if (failure === "aborted") this.writer.breakOff();
    else this.fail(failureReasonOf(this.call));
    this.finish(nowMs);
  }

  // The legs' side.

  requestOf(leg: Leg): OutboundRequest {
    return this.request.prepare(leg.attempt, this.runtime.attemptTimeoutMs);
  }

  legInformed(_leg: Leg, status: number, headers: readonly Buffer[]): void {
    // From one of several copies it may belong to an answer that the client will not get.
    if (this.call.launched === 1 && this.writer.state === "none" && !this.inbound.isHttp10)
      this.inbound.inform(status, rawText(headers));
  }

  legHead(leg: Leg): boolean {
    if (this.runtime.retryStatuses.has(leg.status)) return this.hold(leg);
    if (!this.runtime.isStream(leg.headers)) this.commit(leg, this.host.clock.nowMs());
    return true;
  }

  legData(leg: Leg, chunk: Buffer): boolean {
    const nowMs = this.host.clock.nowMs();
    if (this.relay.serving !== leg && !this.commit(leg, nowMs)) return true;
    return this.relay.data(chunk, nowMs);
  }

  legEnd(leg: Leg, trailers: readonly Buffer[]): void {
    const nowMs = this.host.clock.nowMs();
    if (this.relay.isHeld(leg)) return;
    if (this.relay.serving !== leg && !this.commit(leg, nowMs)) return;
    if (trailers.length > 0) this.trailers = rawText(trailers);
    if (leg.attempt.running) this.machine.replied(leg.attempt, nowMs);
    else {
      this.writer.end(this.trailers);
      this.finish(nowMs);
    }
  }

  legFailed(leg: Leg, failure: LegFailure): void {
    const nowMs = this.host.clock.nowMs();
    const a = leg.attempt;
    if (!a.running) {
      if (leg === this.relay.serving) this.giveUp(nowMs);
      else if (this.relay.isHeld(leg)) this.relay.takeHeld();
      return;
    }
    a.unsent = failure.kind === "connect";
    if (failure.kind === "refused") this.machine.ignored(a, nowMs, failure);
    else if (this.runtime.isCurable(failure.kind)) this.machine.failed(a, nowMs, failure);
    else this.machine.fatal(a, nowMs, failure);
  }

  legUpgraded(leg: Leg, socket: Duplex): void {
    // A conversation has no deadline; it counts as outstanding until it is over.
    this.call.deadlineMs = Number.POSITIVE_INFINITY;
    this.machine.committed(leg.attempt, this.host.clock.nowMs());
    if (this.call.winner !== leg.attempt) {
      socket.destroy();
      return;
    }
    this.isTunnel = true;
    this.writer.status = 101;
    this.writer.abandon();
    this.inbound.tunnel(rawText(leg.headers), socket, () => {
      this.isTunnel = false;
      this.machine.replied(leg.attempt, this.host.clock.nowMs());
    });
  }

  private start(): void {
    this.call.replayable = this.body?.isReplayable ?? true;
    this.machine.start(this.call, this.host.clock.nowMs());
  }

  /** False: another copy won, or the call is over. */
  private commit(leg: Leg, nowMs: number): boolean {
    const { call } = this;
    this.machine.committed(leg.attempt, nowMs);
    if (call.winner !== leg.attempt || call.state !== "committed") {
      leg.drop();
      return false;
    }
    if (!this.relay.serve(leg, nowMs)) {
      this.machine.failed(leg.attempt, nowMs, CODED);
      return false;
    }
    this.arm();
    return true;
  }

  /** A real answer that another replica may improve on: kept, unread, until it is known whether one does. */
  private hold(leg: Leg): boolean {
    this.relay.hold(leg);
    this.receiving = leg;
    const pushbackMs = pushbackOf(leg.headers, Date.now);
    const nowMs = this.host.clock.nowMs();
    this.machine.failed(leg.attempt, nowMs, leg.status, pushbackMs);
    this.receiving = undefined;
    return this.relay.serving === leg;
  }

  private serveLast(leg: Leg, nowMs: number): void {
    const isServed = this.relay.serve(leg, nowMs);
    if (!isServed) this.fail("bad_reply");
    else if (!leg.ended) {
      this.arm();
      if (leg !== this.receiving) leg.resume();
      return;
    }
    this.writer.end(undefined);
    this.finish(nowMs);
  }

  private fail(reason: FailureReason): void {
    this.reason = reason;
    const context = { service: this.runtime.name, attempts: this.call.launched };
    if (!this.writer.reply(failureReply(reason, context))) this.writer.breakOff();
  }

  private checkStall(nowMs: number): void {
    const { call, relay } = this;
    // While the machine has the call, the deadline is its own.
    const endMs = call.state === "settled" ? call.deadlineMs : Number.POSITIVE_INFINITY;
    if (!relay.isStalled(nowMs, endMs)) return;
    const attempt = relay.serving?.attempt;
    relay.serving?.drop();
    if (attempt?.running) this.machine.failed(attempt, nowMs, STALLED);
    else this.giveUp(nowMs);
  }

  /** What was on its way to the client will not be whole. */
  private giveUp(nowMs: number): void {
    this.writer.breakOff();
    this.finish(nowMs);
  }

  private arm(): void {
    const atMs = Math.min(this.callWakeMs, this.relay.idleWakeMs);
    if (atMs !== this.wakeAtMs) this.host.timers.wakeAt(this, atMs);
  }

  private finish(nowMs: number): void {
    if (this.isDone) return;
    this.isDone = true;
    this.inbound.peer.running.delete(this);
    this.relay.release();
    this.callWakeMs = Number.POSITIVE_INFINITY;
    this.arm();
    this.body?.release();
    this.host.ended(this, nowMs);
  }
}
