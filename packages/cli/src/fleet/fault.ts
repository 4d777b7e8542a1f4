import { checkOption } from "bobtail/engine";
import { checkStall, type StallLaw } from "./service-law.ts";

/** What is wrong with a backend from the moment it is told. Requests that it has let in before keep their fate, unless it dies. */
export type Fault = RequestFault | FlappingFault | GoneFault | RestartFault;

/** What may be wrong with single requests while the backend listens. Its health path stays 200 unless said. */
export type RequestFault = SlowFault | StallsFault | FailFastFault | SilentFault | ResetsFault;

/** Every service that begins meanwhile takes longer by a factor. */
export interface SlowFault {
  readonly kind: "slow";
  /** Above 0; times the slow factor of the law. */
  readonly factor: number;
  /** Cold: the factor goes to 1 in a straight line, over that time or that many started requests, whichever is given; both: the sooner. */
  readonly fades?:
    | { readonly overMs?: number | undefined; readonly overRequests?: number | undefined }
    | undefined;
}

/** In place of the law's own stalls. */
interface StallsFault extends StallLaw {
  readonly kind: "stalls";
}

/** A share of the requests is answered with an error, without a worker. */
export interface FailFastFault {
  readonly kind: "fail-fast";
  /** In [0, 1]. */
  readonly shareRatio: number;
  /** 500 to 599, default 503. */
  readonly status?: number | undefined;
  /** ms >= 0, default 1. */
  readonly afterMs?: number | undefined;
}

/** A share of the requests is never answered, though connections are accepted and requests read. */
export interface SilentFault {
  readonly kind: "silent";
  /** `accept`: not a byte, on the health path neither. `headers`: the headers and half of the body come. */
  readonly after: "accept" | "headers";
  /** In [0, 1], default 1. */
  readonly shareRatio?: number | undefined;
}

/** A share of the requests, on the health path too, has its connection reset (RST), without a worker. */
export interface ResetsFault {
  readonly kind: "resets";
  /** `headers`: the headers and half of the body come first. */
  readonly after: "accept" | "headers";
  /** In [0, 1]. */
  readonly shareRatio: number;
}

/** Sick for a while, healthy for a while, over and over; sick first. */
interface FlappingFault {
  readonly kind: "flapping";
  /** ms above 0. */
  readonly sickMs: number;
  readonly healthyMs: number;
  readonly fault: RequestFault;
}

/** Nothing listens: open connections are reset, new ones refused, waiting and running requests lost. The port stays reserved. */
interface GoneFault {
  readonly kind: "gone";
}

/** Gone for a while, then back on the same port. */
export interface RestartFault {
  readonly kind: "restart";
  /** ms above 0. */
  readonly downMs: number;
  /** What is wrong once it is back: `slow` with `fades` is a cold start. Default nothing. */
  readonly then?: RequestFault | FlappingFault | undefined;
}

/** The fault of single requests at a moment; undefined while there is none. A pure function of the time. */
export function requestFaultAt(
  fault: Fault | undefined,
  sinceMs: number,
  nowMs: number,
): RequestFault | undefined {
  switch (fault?.kind) {
    case undefined:
    case "gone":
    case "restart":
      return undefined;
    case "flapping": {
      const inPeriodMs = (nowMs - sinceMs) % (fault.sickMs + fault.healthyMs);
      return inPeriodMs < fault.sickMs ? fault.fault : undefined;
    }
    default:
      return fault;
  }
}

/** How many times longer a service takes that begins `ageMs` after the fault, as the `started`th since then (0 is the first). */
export function slowFactorAt(fault: SlowFault, ageMs: number, started: number): number {
  const { factor, fades } = fault;
  if (fades === undefined) return factor;
  const { overMs = Number.POSITIVE_INFINITY, overRequests = Number.POSITIVE_INFINITY } = fades;
  const progress = Math.min(1, Math.max(ageMs / overMs, started / overRequests));
  return factor + (1 - factor) * progress;
}

/** Throws `ERR_BOBTAIL_OPTION` for a fault of an unknown kind or a number out of range. */
export function checkFault(fault: Fault): void {
  switch (fault.kind) {
    case "slow":
      checkSlow(fault);
      break;
    case "stalls":
      checkStall(fault, "fault");
      break;
    case "fail-fast":
      checkRatio(fault.shareRatio);
      checkFailure(fault);
      break;
    case "silent":
    case "resets":
      checkRatio(fault.shareRatio ?? 1);
      checkOption(
        { "fault.after": fault.after },
        "accept or headers",
        fault.after === "accept" || fault.after === "headers",
      );
      break;
    case "flapping":
      checkTime("fault.sickMs", fault.sickMs);
      checkTime("fault.healthyMs", fault.healthyMs);
      checkNested(fault.fault, ["flapping", "gone", "restart"]);
      break;
    case "gone":
      break;
    case "restart":
      checkTime("fault.downMs", fault.downMs);
      if (fault.then !== undefined) checkNested(fault.then, ["gone", "restart"]);
      break;
    default:
      checkOption({ "fault.kind": (fault as Fault).kind }, "a known kind of fault", false);
  }
}

function checkSlow({ factor, fades }: SlowFault): void {
  checkOption(
    { "fault.factor": factor },
    "a number above 0",
    factor > 0 && Number.isFinite(factor),
  );
  if (fades === undefined) return;
  const { overMs, overRequests } = fades;
  if (overMs !== undefined) checkTime("fault.fades.overMs", overMs);
  checkOption(
    { "fault.fades.overRequests": overRequests },
    "a whole number >= 1, or `overMs` in its place",
    overRequests === undefined
      ? overMs !== undefined
      : Number.isSafeInteger(overRequests) && overRequests >= 1,
  );
}

function checkFailure({ status = 503, afterMs = 1 }: FailFastFault): void {
  checkOption(
    { "fault.status": status },
    "a whole number in [500, 599]",
    Number.isInteger(status) && status >= 500 && status <= 599,
  );
  checkOption(
    { "fault.afterMs": afterMs },
    "milliseconds in [0, 2^31)",
    afterMs >= 0 && afterMs < 2 ** 31,
  );
}

function checkNested(fault: Fault, forbidden: readonly string[]): void {
  checkOption(
    { "fault.kind": fault.kind },
    `another kind here than ${forbidden.join(", ")}`,
    !forbidden.includes(fault.kind),
  );
  checkFault(fault);
}

function checkRatio(shareRatio: number): void {
  checkOption(
    { "fault.shareRatio": shareRatio },
    "a ratio in [0, 1]",
    shareRatio >= 0 && shareRatio <= 1,
  );
}

function checkTime(name: string, ms: number): void {
  checkOption({ [name]: ms }, "milliseconds in (0, 2^31)", ms > 0 && ms < 2 ** 31);
}
