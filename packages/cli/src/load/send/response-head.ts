/** How a body ends. */
type Framing = "length" | "chunked" | "close";

/** What a client needs to know of a response's head. */
export interface ResponseHead {
  readonly status: number;
  readonly framing: Framing;
  /** Where `framing` is `length`. */
  readonly lengthBytes: number;
  /** The server keeps the connection open after the answer. */
  readonly keepAlive: boolean;
  /** For so long, where it says so; Infinity where it does not. */
  readonly keepAliveMs: number;
}

const [TAB, LF, CR, SPACE, ZERO, COLON] = [9, 10, 13, 32, 48, 58] as const;
const VERSION_LENGTH = 9;
const TOKEN: Uint8Array = tokenTable();

/** What one head may say of its body, collected from its fields. */
interface Fields {
  contentLength: string | undefined;
  transferEncoding: string | undefined;
  connection: string;
  keepAlive: string;
}

/**
 * Reads a head from its first byte to the blank line that ends it, both included. Strict: what RFC 9112 calls invalid is
 * refused, since a client that guesses where a body ends measures the wrong bytes.
 *
 * @returns the reason in a few words where it is malformed.
 */
export function readHead(bytes: Buffer, start: number, end: number): ResponseHead | string {
  const minor = (bytes[start + 7] as number) - ZERO;
  if (bytes.toString("latin1", start, start + 7) !== "HTTP/1." || (minor !== 0 && minor !== 1))
    return "no HTTP/1 status line";
  const status = statusOf(bytes, start + VERSION_LENGTH);
  if (bytes[start + VERSION_LENGTH - 1] !== SPACE || status === undefined)
    return "no HTTP/1 status line";
  const fields: Fields = {
    contentLength: undefined,
    transferEncoding: undefined,
    connection: "",
    keepAlive: "",
  };
  let at = valueEnd(bytes, start + VERSION_LENGTH + 3, end);
  while (at >= 0 && at < end - 2) {
    const next = readField(bytes, at, { end, fields });
    if (typeof next === "string") return next;
    at = next;
  }
  if (at !== end - 2) return "control characters in the head";
  return summarise(status, minor, fields);
}

function statusOf(bytes: Buffer, at: number): number | undefined {
  const hundreds = (bytes[at] as number) - ZERO;
  const tens = (bytes[at + 1] as number) - ZERO;
  const ones = (bytes[at + 2] as number) - ZERO;
  const after = bytes[at + 3];
  if (after !== SPACE && after !== CR) return undefined;
  if (!(hundreds >= 1 && hundreds <= 9 && tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9))
    return undefined;
  return hundreds * 100 + tens * 10 + ones;
}

/** The start of the next line; -1 where this one holds what no field value may. */
function valueEnd(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte >= SPACE && byte !== 127) continue;
    if (byte === TAB) continue;
    return byte === CR && bytes[at + 1] === LF ? at + 2 : -1;
  }
  return -1;
}

/** @returns the start of the next line, or the reason. */
function readField(
  bytes: Buffer,
  start: number,
  { end, fields }: { end: number; fields: Fields },
): number | string {
  let colon = start;
  while (TOKEN[bytes[colon] as number] === 1) colon++;
  if (colon === start || bytes[colon] !== COLON) return "a header without a name";
  const next = valueEnd(bytes, colon + 1, end);
  if (next < 0) return "control characters in the head";
  // Of all names only those of these lengths matter.
  const length = colon - start;
  if (length !== 10 && length !== 14 && length !== 17) return next;
  const name = bytes.toString("latin1", start, colon).toLowerCase();
  const value = bytes.toString("latin1", colon + 1, next - 2).trim();
  switch (name) {
    case "content-length":
      // Several may stand for one if they are all the same.
      if (fields.contentLength !== undefined && fields.contentLength !== value)
        return "two content lengths";
      fields.contentLength = value;
      break;
    case "transfer-encoding":
      fields.transferEncoding =
        fields.transferEncoding === undefined ? value : `${fields.transferEncoding},${value}`;
      break;
    case "connection":
      fields.connection += `,${value.toLowerCase()}`;
      break;
    case "keep-alive":
      fields.keepAlive = value;
      break;
  }
  return next;
}

function summarise(status: number, minor: number, fields: Fields): ResponseHead | string {
  const { contentLength, transferEncoding, connection, keepAlive: hint } = fields;
  const keepAlive =
    minor === 1 ? !hasToken(connection, "close") : hasToken(connection, "keep-alive");
  const keepAliveMs = keepAliveHint(hint);
  if (transferEncoding !== undefined) {
    if (contentLength !== undefined) return "both a content length and a transfer encoding";
    if (minor === 0 || !/(^|,)\s*chunked$/i.test(transferEncoding))
      return "an unknown transfer encoding";
    return { status, framing: "chunked", lengthBytes: 0, keepAlive, keepAliveMs };
  }
  if (contentLength === undefined)
    return { status, framing: "close", lengthBytes: 0, keepAlive, keepAliveMs };
  if (!/^\d{1,15}$/.test(contentLength)) return "a content length that is no number";
  const lengthBytes = Number(contentLength);
  return { status, framing: "length", lengthBytes, keepAlive, keepAliveMs };
}

function hasToken(list: string, token: string): boolean {
  return list !== "" && list.split(",").some((item) => item.trim() === token);
}

function keepAliveHint(value: string): number {
  const seconds = value === "" ? undefined : /(?:^|[,\s])timeout=(\d{1,9})/i.exec(value)?.[1];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1_000;
}

/** RFC 9110, 5.6.2. */
function tokenTable(): Uint8Array {
  const table = new Uint8Array(256);
  for (const char of "!#$%&'*+-.^_`|~") table[char.charCodeAt(0)] = 1;
  for (let code = 0; code < 128; code++)
    if (/[0-9A-Za-z]/.test(String.fromCharCode(code))) table[code] = 1;
  return table;
}
