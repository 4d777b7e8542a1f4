import type { Readable } from "node:stream";
import type { Attempt } from "bobtail/engine";
import { remainingHeader } from "./deadline-header.ts";
import type { OutboundRequest } from "./engine.ts";
import type { RequestHead } from "./request-head.ts";

/** A request as its attempts send it: the same for all of them but for what each is told of itself. */
export class OutboundHead implements OutboundRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: (string | undefined)[];
  body: Buffer | Readable | null;
  upgrade: string | null;
  private readonly slot: number;

  constructor(method: string, head: RequestHead, isHedging: boolean) {
    const { headers } = head;
    this.method = method;
    this.path = head.path;
    this.headers = headers;
    this.body = null;
    this.upgrade = null;
    this.slot = headers.length;
    headers.push("bobtail-deadline-ms", undefined, "bobtail-attempt", undefined);
    headers.push("content-length", undefined);
    if (isHedging || head.isNoHedge) headers.push("bobtail-no-hedge", "1");
    if (head.deadlineDialect !== undefined) headers.push(head.deadlineDialect, undefined);
  }

  /** The length of a body that is streamed; -1: it is chunked. A whole body tells its own. */
  stream(body: Readable, length: number): void {
    this.body = body;
    if (length >= 0) this.headers[this.slot + 5] = String(length);
  }

  /** Fills in what this attempt is told: what is left of the time, which only shrinks, and its number and kind. */
  prepare(a: Attempt, attemptTimeoutMs: number): OutboundRequest {
    const { headers, slot } = this;
    const leftMs = Math.min(a.call.deadlineMs - a.startMs, attemptTimeoutMs);
    const left = remainingHeader(leftMs);
    headers[slot + 1] = left;
    headers[slot + 3] = a.number > 1 ? `${a.number};kind=${a.kind}` : undefined;
    const last = headers.length - 2;
    const dialect = headers[last];
    if (dialect === "grpc-timeout") headers[last + 1] = grpcTimeout(left);
    else if (dialect === "x-envoy-expected-rq-timeout-ms") headers[last + 1] = left;
    return this;
  }
}

/** Eight digits at most: beyond a day, whole seconds are exact enough. */
function grpcTimeout(ms: string): string {
  return ms.length > 8 ? `${Math.floor(Number(ms) / 1000)}S` : `${ms}m`;
}
