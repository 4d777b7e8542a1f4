import { isBobtailError } from "bobtail";
import { assertNever, type Call } from "bobtail/engine";
import type { LegFailure } from "./engine.ts";
import type { FailureReason } from "./failure-reply.ts";

export const STALLED: LegFailure = { kind: "reset", code: "BODY_STALLED" };
/** A transfer coding that is not undone here. */
export const CODED: LegFailure = { kind: "reset", code: "TRANSFER_CODING" };

/** What to tell the client of a call that has no answer to pass on. */
export function failureReasonOf(call: Call): FailureReason {
  const { failure } = call;
  switch (failure) {
    case "deadline":
      return "deadline";
    case "shed":
      return "busy";
    case "no-endpoint":
      return "no_endpoint";
    case "body":
      return call.winner?.cause === CODED ? "bad_reply" : "body_broke";
    case "aborted":
      return "closing";
    case "fatal":
    case "all-failed":
    case undefined:
      return reasonOfCause(call.last?.cause);
    default:
      return assertNever(failure);
  }
}

function reasonOfCause(cause: unknown): FailureReason {
  if (isBobtailError(cause, "ERR_BOBTAIL_ATTEMPT_TIMEOUT")) return "attempt_timeout";
  // A status: its reply was kept and has broken off meanwhile.
  if (!isLegFailure(cause)) return "connection_broke";
  switch (cause.kind) {
    case "connect":
      return "connect_failed";
    case "reset":
      return "connection_broke";
    case "refused":
      return "busy";
    case "invalid":
      return "bad_request";
    default:
      return assertNever(cause.kind);
  }
}

function isLegFailure(cause: unknown): cause is LegFailure {
  return typeof cause === "object" && cause !== null && "kind" in cause && "code" in cause;
}

/** A short word for logs: a status, a code. Never a cause's own text, which may quote what was sent. */
export function causeCode(cause: unknown): string | undefined {
  if (typeof cause === "number") return String(cause);
  if (isLegFailure(cause)) return cause.code;
  if (cause instanceof Error && "code" in cause) return String(cause.code);
  return undefined;
}
