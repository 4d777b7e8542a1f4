import type { Rng } from "bobtail/engine";
import {
  type FailFastFault,
  type Fault,
  type RequestFault,
  type ResetsFault,
  requestFaultAt,
  type SilentFault,
  slowFactorAt,
} from "./fault.ts";
import type { ServiceLaw } from "./service-law.ts";

/** A request that does not come to a worker, and what becomes of it. */
export type Hit = FailFastFault | SilentFault | ResetsFault;

/** The fault of one backend, and which requests it hits. Its lots are a stream of their own, so that service times stay what they are. */
export class FaultInjector {
  private fault: Fault | undefined;
  private sinceMs: number;
  private started: number;
  private readonly rng: Rng;

  constructor(rng: Rng) {
    this.rng = rng;
    this.fault = undefined;
    this.sinceMs = 0;
    this.started = 0;
  }

  /** In force at once; `undefined` heals. */
  set(fault: Fault | undefined, nowMs: number): void {
    this.fault = fault;
    this.sinceMs = nowMs;
    this.started = 0;
  }

  /** Draws the lot of a request that comes now; undefined: it is served. */
  hitAt(nowMs: number): Hit | undefined {
    const fault = this.at(nowMs);
    if (fault === undefined || fault.kind === "slow" || fault.kind === "stalls") return undefined;
    return this.rng.next() < (fault.shareRatio ?? 1) ? fault : undefined;
  }

  lawAt(law: ServiceLaw, nowMs: number): ServiceLaw {
    const fault = this.at(nowMs);
    return fault?.kind === "stalls" ? { ...law, stall: fault } : law;
  }

  /** Called once for each service, when it begins. */
  slowFactorAt(startMs: number): number {
    const fault = this.at(startMs);
    if (fault?.kind !== "slow") return 1;
    return slowFactorAt(fault, startMs - this.sinceMs, this.started++);
  }

  private at(nowMs: number): RequestFault | undefined {
    return requestFaultAt(this.fault, this.sinceMs, nowMs);
  }
}

/** Whether a health check meets the fault too: what hits the process or its connections does, what hits the work does not. */
export function isSeenByHealth(hit: Hit): boolean {
  return hit.kind === "resets" || (hit.kind === "silent" && hit.after === "accept");
}
