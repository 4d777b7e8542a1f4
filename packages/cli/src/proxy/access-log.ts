import { type Attempt, attemptsOf } from "bobtail/engine";
import type { Exchange } from "./exchange.ts";
import { causeCode } from "./exchange-failure.ts";
import { withoutQuery } from "./request-target.ts";

/** Lines that wait for a slow reader of standard output; more are dropped, and the next line that fits says how many. */
const MAX_WAITING_LINES = 10_000;

export type LineSink = (line: string) => void;

/**
 * One request as a JSON line: what was asked (without its query), what was answered, which endpoints were
 * tried and why no further one was. No header, no body, no text of a cause.
 */
export function accessLine(exchange: Exchange, nowMs: number, time: string): string {
  const { call, inbound, target, writer } = exchange;
  return JSON.stringify({
    time,
    method: inbound.method,
    path: withoutQuery(exchange.path),
    route: target.route,
    service: target.runtime.name,
    status: writer.status,
    ms: rounded(nowMs - exchange.arrivedMs),
    bytes: writer.bytes,
    attempts: attemptsOf(call).map(attemptEntry),
    failure: call.failure,
    reason: exchange.reason,
    skipped: call.skip,
  });
}

/** A request that was refused before it had a service. */
export function refusedLine(
  request: { method: string; path: string; status: number; reason: string },
  time: string,
): string {
  const { method, path, status, reason } = request;
  return JSON.stringify({ time, method, path: withoutQuery(path), status, attempts: [], reason });
}

function attemptEntry(a: Attempt): object {
  return {
    endpoint: a.endpoint.name,
    kind: a.kind,
    ms: rounded(a.latencyMs),
    outcome: a.outcome ?? "running",
    cause: causeCode(a.cause),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Writes lines to standard output, many at a time. */
export function stdoutSink(): LineSink {
  let lines: string[] = [];
  let dropped = 0;
  const write = () => {
    const text = lines.join("");
    lines = [];
    if (text !== "") process.stdout.write(text);
  };
  return (line) => {
    if (lines.length >= MAX_WAITING_LINES || process.stdout.writableNeedDrain) {
      dropped++;
      return;
    }
    if (lines.length === 0) setImmediate(write);
    if (dropped > 0) {
      lines.push(`${JSON.stringify({ dropped_lines: dropped })}\n`);
      dropped = 0;
    }
    lines.push(`${line}\n`);
  };
}
