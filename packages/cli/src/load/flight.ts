import type { IntervalSlot } from "./interval-log.ts";
import type { LoadSection } from "./load-report.ts";
import { toMicros } from "./micros.ts";
import { EventStream } from "./send/event-stream.ts";
import type { Carrier, Exchange } from "./send/exchange.ts";

export type FlightOutcome = "ok" | "http-error" | "transport-error" | "timeout" | "open";

/** Whom a flight tells that it is over, and asks for the time. */
export interface FlightHost {
  /** In ms from the start of the run. */
  elapsedMs(): number;
  onLanded(flight: Flight, nowMs: number): void;
}

export interface FlightStart {
  readonly section: LoadSection;
  /** Undefined in the warm-up. */
  readonly slot: IntervalSlot | undefined;
  readonly plannedMs: number;
  readonly handedMs: number;
  readonly isEventStream: boolean;
}

/** One request on its way: what its transport tells of it, in the ledger; and a node of the list of open ones. */
export class Flight implements Exchange {
  readonly plannedMs: number;
  carrier: Carrier | undefined;
  previous: Flight | undefined;
  next: Flight | undefined;
  private readonly host: FlightHost;
  private readonly section: LoadSection;
  private readonly slot: IntervalSlot | undefined;
  private readonly handedMs: number;
  private readonly events: EventStream | undefined;
  /** NaN until then. */
  private writtenMs: number;
  private eventMs: number;
  private status: number;
  private over: boolean;

  constructor(host: FlightHost, start: FlightStart) {
    this.plannedMs = start.plannedMs;
    this.carrier = undefined;
    this.previous = undefined;
    this.next = undefined;
    this.host = host;
    this.section = start.section;
    this.slot = start.slot;
    this.handedMs = start.handedMs;
    this.events = start.isEventStream ? new EventStream() : undefined;
    this.writtenMs = Number.NaN;
    this.eventMs = Number.NaN;
    this.status = 0;
    this.over = false;
  }

  onWritten(): void {
    this.writtenMs = this.host.elapsedMs();
    this.section.queueing.record(toMicros(this.writtenMs - this.handedMs));
    this.section.sendLag.record(toMicros(this.writtenMs - this.plannedMs));
  }

  onHead(status: number): void {
    this.status = status;
    if (this.events === undefined)
      this.section.firstByte.record(toMicros(this.host.elapsedMs() - this.writtenMs));
  }

  /** Bodies are read to their end and thrown away. */
  onBody(bytes: Uint8Array): void {
    if (this.events === undefined) return;
    const count = this.events.read(bytes);
    if (count === 0 || this.status >= 400) return;
    const nowMs = this.host.elapsedMs();
    const { firstByte, eventGap } = this.section;
    if (Number.isNaN(this.eventMs)) firstByte.record(toMicros(nowMs - this.writtenMs));
    else eventGap.record(toMicros(nowMs - this.eventMs));
    // Those that came in one piece came at one moment.
    if (count > 1) eventGap.record(0, count - 1);
    this.eventMs = nowMs;
  }

  onEnd(): void {
    const { statuses } = this.section;
    statuses.set(this.status, (statuses.get(this.status) ?? 0) + 1);
    this.land(this.status < 400 ? "ok" : "http-error");
  }

  onFailure(kind: string): void {
    if (this.over) return;
    countKind(this.section.failures, kind);
    this.land("transport-error");
  }

  /** Stop waiting for it. */
  giveUp(outcome: "timeout" | "open"): void {
    this.land(outcome);
    this.carrier?.cancel(this);
  }

  private land(outcome: FlightOutcome): void {
    if (this.over) return;
    this.over = true;
    const { ledger, completed, all, failed, service } = this.section;
    const nowMs = this.host.elapsedMs();
    const micros = toMicros(nowMs - this.plannedMs);
    switch (outcome) {
      case "ok":
        ledger.ok++;
        completed.record(micros);
        service.record(toMicros(nowMs - this.writtenMs));
        break;
      case "http-error":
        ledger.httpErrors++;
        break;
      case "transport-error":
        ledger.transportErrors++;
        break;
      case "timeout":
        ledger.timeouts++;
        break;
      case "open":
        ledger.openAtEnd++;
        break;
    }
    if (outcome === "http-error" || outcome === "transport-error") {
      failed.record(micros);
      if (this.slot !== undefined) this.slot.infinite++;
    } else {
      all.record(micros);
      this.slot?.all.record(micros);
    }
    if (Number.isNaN(this.writtenMs)) this.neverWritten(nowMs);
    this.host.onLanded(this, nowMs);
  }

  /** Those that never got a connection waited for one until now, which is no less. */
  private neverWritten(nowMs: number): void {
    this.section.queueing.record(toMicros(nowMs - this.handedMs));
    this.section.sendLag.record(toMicros(nowMs - this.plannedMs));
  }
}

const MAX_KINDS = 32;

/** A server that words every failure differently must not fill the memory. */
export function countKind(failures: Map<string, number>, kind: string, count = 1): void {
  const key = failures.has(kind) || failures.size < MAX_KINDS - 1 ? kind : "other";
  failures.set(key, (failures.get(key) ?? 0) + count);
}
