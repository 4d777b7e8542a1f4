const GRPC_UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000001,
};

/**
 * A `grpc-timeout` in milliseconds; `undefined` for what is none.
 * Source: gRPC over HTTP/2, "Timeout": at most eight digits and a unit.
 */
export function parseGrpcTimeout(value: string): number | undefined {
  if (!/^\d{1,8}[HMSmun]$/.test(value)) return undefined;
  return Number(value.slice(0, -1)) * (GRPC_UNIT_MS[value.slice(-1)] ?? 0);
}

/** Whole milliseconds, up to twelve digits; `undefined` for anything else. */
export function parseMilliseconds(value: string): number | undefined {
  return /^\d{1,12}$/.test(value) ? Number(value) : undefined;
}

/** What to send on of a remaining time: whole, never negative, always smaller than it is. */
export function remainingHeader(remainingMs: number): string {
  return String(Math.max(0, Math.ceil(remainingMs) - 1));
}

/**
 * What `Retry-After` asks for, in ms from now: seconds, or a date. `undefined` for what is neither.
 *
 * @param epochMs - the time of day, for dates.
 * Source: RFC 9110, section 10.2.3.
 */
export function parseRetryAfter(value: string, epochMs: number): number | undefined {
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // The date reader would make a month of a negative number.
  if (!/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - epochMs);
}

/**
 * What `grpc-retry-pushback-ms` asks for; negative (no copy at all) for anything that is not a count.
 * Source: gRPC retry design (A6), "Pushback".
 */
export function parseGrpcPushback(value: string): number {
  return parseMilliseconds(value) ?? -1;
}
