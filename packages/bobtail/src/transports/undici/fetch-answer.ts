import type { RetryOptions } from "../../policies/options.ts";
import type { LiveAttempt } from "../client/sender.ts";

/** `retry.on` unless given: what another replica may cure. */
const DEFAULT_CURABLE: NonNullable<RetryOptions["on"]> = [
  "connect-failure",
  "reset",
  502,
  503,
  504,
];

export type Curable = ReadonlySet<number | "connect-failure" | "reset">;

export function curableOf(retry: RetryOptions | undefined): Curable {
  return new Set(retry?.on ?? DEFAULT_CURABLE);
}

/** Whether another replica may answer better, and what the server asked for meanwhile. */
export function judgeAnswer(
  status: number,
  retryAfter: string | null | undefined,
  curable: Curable,
): { readonly isWin: boolean; readonly pushbackMs: number } {
  const asksForQuiet = retryAfter !== null && retryAfter !== undefined;
  if (!curable.has(status) && !(status === 429 && asksForQuiet))
    return { isWin: true, pushbackMs: 0 };
  return { isWin: false, pushbackMs: asksForQuiet ? retryAfterMs(retryAfter) : 0 };
}

/**
 * What a `Retry-After` asks for, in ms: seconds, or a date. Negative, which is "not at all", for what is
 * neither.
 */
export function retryAfterMs(value: string, nowMs: number = Date.now()): number {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? -1 : Math.max(0, dateMs - nowMs);
}

/** A server that streams events answers 200 before it starts to work. */
export function commitsAtFirstByte(
  rule: "headers" | "first-byte" | undefined,
  contentType: string | null | undefined,
): boolean {
  if (rule !== undefined) return rule === "first-byte";
  return contentType?.toLowerCase().startsWith("text/event-stream") ?? false;
}

/** What one attempt tells the levels below. */
export function marksOf(
  live: LiveAttempt,
  { noHedge, attemptMs }: { readonly noHedge: boolean; readonly attemptMs: number },
): Readonly<Record<string, string>> {
  const leftMs = Math.min(live.remainingMs, attemptMs);
  return {
    // Strictly less than what this level was given, even within one tick of the clock.
    "bobtail-deadline-ms": String(Math.max(0, Math.ceil(leftMs) - 1)),
    ...(live.number > 1 ? { "bobtail-attempt": `${live.number};kind=${live.kind}` } : undefined),
    ...(noHedge ? { "bobtail-no-hedge": "1" } : undefined),
  };
}

export function isIdempotentMethod(method: string): boolean {
  const upper = method.toUpperCase();
  return upper === "GET" || upper === "HEAD" || upper === "OPTIONS";
}

/** What undici says of a request that it will not send, or of itself when it is closed: the same anywhere. */
const OF_REQUEST = new Set<unknown>([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
]);

export function isOfRequest(error: unknown): boolean {
  return error instanceof Error && "code" in error && OF_REQUEST.has(error.code);
}
