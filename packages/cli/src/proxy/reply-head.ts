import { parseGrpcPushback, parseMilliseconds, parseRetryAfter } from "./deadline-header.ts";
import { nominated, roleOf } from "./header-table.ts";

/** The headers of a reply as they are passed on, and what they say about it. */
export class ReplyHead {
  /** Names and values in turn. */
  headers: string[] = [];
  /** -1: not told. */
  bodyLength: number = -1;
  isEventStream: boolean = false;
  /** Its body is coded for this hop in a way that is not undone here: the client could not read it. */
  isCoded: boolean = false;
}

/** Hop-by-hop headers removed, `Via` written. Framing is ours: `Transfer-Encoding` never passes. */
export function readReplyHead(raw: readonly Buffer[], status: number = 200): ReplyHead {
  const head = new ReplyHead();
  const { headers } = head;
  let connection = "";
  let via = "";
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = text(raw[i]);
    const value = text(raw[i + 1]);
    switch (roleOf(name)) {
      case "hop-by-hop":
      case "upgrade":
      case "bobtail":
        continue;
      case "transfer-encoding":
        head.isCoded = value.trim().toLowerCase() !== "chunked";
        continue;
      case "connection":
        connection = connection === "" ? value : `${connection},${value}`;
        continue;
      case "via":
        via = via === "" ? value : `${via}, ${value}`;
        continue;
      case "content-length":
        // Source: RFC 9110, section 8.6.
        if (status === 204) continue;
        head.bodyLength = parseMilliseconds(value) ?? Number(value);
        break;
      case "content-type":
        head.isEventStream = isEventStream(value);
        break;
      default:
    }
    headers.push(name, value);
  }
  headers.push("via", via === "" ? "1.1 bobtail" : `${via}, 1.1 bobtail`);
  if (connection === "" || connection === "keep-alive" || connection === "close") return head;
  const names = nominated(connection);
  if (names !== undefined) head.headers = without(headers, names);
  return head;
}

/** As received, for answers that must not be touched (the switch to another protocol). */
export function rawText(raw: readonly Buffer[]): string[] {
  return raw.map(text);
}

function isEventStream(contentType: string): boolean {
  return contentType.slice(0, 17).toLowerCase() === "text/event-stream";
}

/** Whether a reply with these headers is a stream of events, without reading the rest. */
export function tellsEventStream(raw: readonly Buffer[]): boolean {
  for (let i = 0; i + 1 < raw.length; i += 2) {
    // The length alone rules out most names.
    if (raw[i]?.length === 12 && roleOf(text(raw[i])) === "content-type")
      return isEventStream(text(raw[i + 1]));
  }
  return false;
}

/**
 * How long the server wants quiet, in ms; 0: it said nothing; negative: for ever.
 * `epochMs` is the time of day, read only for dates.
 */
export function pushbackOf(raw: readonly Buffer[], epochMs: () => number): number {
  let pushbackMs = 0;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const role = roleOf(text(raw[i]));
    if (role === "grpc-pushback") return parseGrpcPushback(text(raw[i + 1]));
    if (role === "retry-after")
      pushbackMs = Math.max(pushbackMs, parseRetryAfter(text(raw[i + 1]), epochMs()) ?? 0);
  }
  return pushbackMs;
}

function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (!names.has(name.toLowerCase())) kept.push(name, headers[i + 1] as string);
  }
  return kept;
}

/** What `toString("latin1")` comes to, without its look-up of the encoding. */
interface SliceableBuffer extends Buffer {
  latin1Slice(start: number, end: number): string;
}

function text(bytes: Buffer | undefined): string {
  return bytes === undefined ? "" : (bytes as SliceableBuffer).latin1Slice(0, bytes.length);
}
