import { BobtailError } from "../../core/errors.ts";
import type { Attempt } from "../../policies/attempt.ts";
import { attemptsOf, type Call } from "../../policies/call.ts";
import type { Service } from "../../policies/service.ts";

/** No answer within the call's deadline. */
export function deadlineError(name: string, call: Call, nowMs: number): BobtailError {
  const elapsedMs = nowMs - call.startMs;
  const limitMs = Math.round(call.deadlineMs - call.startMs);
  const tried = attemptsOf(call).map((a) => `${a.kind} to ${a.endpoint.name}`);
  const where =
    tried.length > 0
      ? `sent ${tried.join(", ")}`
      : limitMs > 0
        ? "nothing was sent, since every endpoint was full"
        : "nothing was sent, since the deadline had passed before the call";
  return new BobtailError(
    "ERR_BOBTAIL_DEADLINE",
    `${name}: no answer within ${Math.max(0, limitMs)} ms (${where}). If that is too short, raise deadlineMs.`,
    { elapsedMs, attempts: call.launched },
  );
}

/** Every copy failed: one error with every cause, the primary's first. */
export function allFailedError(name: string, call: Call): BobtailError {
  const failed = attemptsOf(call);
  const causes = failed.map((a) => a.cause);
  const why = failed.map((a) => `${a.kind} to ${a.endpoint.name}: ${messageOf(a.cause)}`);
  const count = failed.length === 1 ? "the only attempt" : `all ${failed.length} attempts`;
  const more = call.skip === undefined ? "" : ` No further copy: ${call.skip}.`;
  return new BobtailError(
    "ERR_BOBTAIL_ALL_FAILED",
    `${name}: ${count} failed (${why.join("; ")}).${more} Every cause is in details.causes.`,
    { causes },
    causes[0],
  );
}

export function noEndpointError(name: string, service: Service): BobtailError {
  const knownCount = service.balancer.endpoints.length;
  return new BobtailError(
    "ERR_BOBTAIL_NO_ENDPOINT",
    `${name}: no endpoint to send to, ${knownCount} known. Name some in \`endpoints\` or with setEndpoints().`,
    { knownCount },
  );
}

export function shedError(name: string, service: Service): BobtailError {
  const { maxPending, maxOutstanding } = service.machine.policy;
  if (maxPending > 0)
    return new BobtailError(
      "ERR_BOBTAIL_SHED",
      `${name}: refused, since every endpoint is full and ${maxPending} calls wait already. ` +
        "Add endpoints, send less, or raise limit.pending.",
      { limit: "pending", max: maxPending },
    );
  return new BobtailError(
    "ERR_BOBTAIL_SHED",
    `${name}: refused, since every endpoint is full (limit.outstanding ${maxOutstanding}, limit.perEndpoint) ` +
      "and no call may wait. Add endpoints, send less, or raise limit.pending above 0.",
    { limit: "outstanding", max: maxOutstanding },
  );
}

export function supersededError(attempt: Attempt): BobtailError {
  const endpoint = attempt.endpoint.name;
  return new BobtailError(
    "ERR_BOBTAIL_SUPERSEDED",
    `${endpoint}: another copy of this call was answered first`,
    { endpoint },
  );
}

export function closedError(name: string): BobtailError {
  return new BobtailError(
    "ERR_BOBTAIL_CLOSED",
    `${name}: closed, so it takes no more calls. Make a new client.`,
    { what: name },
  );
}

function messageOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message === "" ? cause.name : cause.message;
  return String(cause);
}
