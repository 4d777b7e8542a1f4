import { FormData as UndiciFormData } from "undici";
import { BobtailError } from "../../core/errors.ts";
import type { FetchInit } from "../client/fetch-transport-port.ts";
import { isIdempotentMethod } from "./fetch-answer.ts";

/** Stands for whichever endpoint is picked while a path is resolved; it can never be reached. */
const ANY_ENDPOINT = "http://endpoint.invalid";

/** A body as it is given to each attempt. */
export interface FetchBody {
  readonly value: FetchInit["body"] | AsyncIterable<Uint8Array>;
  /** What the wire may be given in its place, any number of times; absent: it can be read once. */
  readonly bytes: string | Uint8Array | Blob | undefined;
  readonly replayable: boolean;
  /** The content type to send unless the caller named one. */
  readonly type: string | undefined;
}

/** A request resolved as far as it can be without an endpoint. */
export interface FetchPlan {
  /** Path and query. */
  readonly path: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly idempotent: boolean;
  /** The caller passes an upper level's mark on. */
  readonly noHedge: boolean;
  readonly body: FetchBody;
  /** The members of `fetch`'s init that are the same for every attempt. */
  readonly init: Readonly<Record<string, unknown>>;
}

/** Whether requests may go to that origin. */
export type OriginTest = (origin: string) => boolean;

/** The members of `fetch`'s init that are passed on, from the init or else from a `Request`. */
const PASSED_ON = [
  "redirect",
  "integrity",
  "keepalive",
  "credentials",
  "mode",
  "cache",
  "referrerPolicy",
] as const;

/** Set for each attempt anew, so that the name stands once and in one spelling. */
const OWN_HEADERS = new Set(["bobtail-attempt", "bobtail-deadline-ms", "bobtail-no-hedge"]);

const NO_BODY: FetchBody = { value: null, bytes: undefined, replayable: true, type: undefined };

/**
 * Path and query of what the caller asked for.
 *
 * Throws `ERR_BOBTAIL_FOREIGN_ORIGIN` for a URL outside the service, and `TypeError`, as `fetch`
 * does, for one that cannot be parsed or holds credentials.
 */
export function pathOf(input: string | URL, isEndpoint: OriginTest): string {
  const url = new URL(input, ANY_ENDPOINT);
  const path = url.pathname + url.search;
  if (url.origin === ANY_ENDPOINT) return path;
  if (!isEndpoint(url.origin))
    throw foreignOrigin(url.origin === "null" ? url.protocol : url.origin);
  if (url.username !== "" || url.password !== "")
    throw new TypeError("A URL that is fetched must not hold credentials");
  return path;
}

export function foreignOrigin(origin: string): BobtailError<"ERR_BOBTAIL_FOREIGN_ORIGIN"> {
  return new BobtailError(
    "ERR_BOBTAIL_FOREIGN_ORIGIN",
    `${origin}: not an endpoint of this service`,
    { origin },
  );
}

/** Everything but the body, which may have to be waited for. */
export function planFetch(
  input: string | URL | Request,
  init: FetchInit,
  isEndpoint: OriginTest,
): Omit<FetchPlan, "body"> {
  const request = isRequest(input) ? input : undefined;
  const path = pathOf(isRequest(input) ? input.url : input, isEndpoint);
  const method = init.method ?? request?.method ?? "GET";
  const given = headersOf(init.headers ?? request?.headers);
  const headers = given.filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()));
  const noHedge = given.some(([name, v]) => name.toLowerCase() === "bobtail-no-hedge" && v === "1");
  const passed: Record<string, unknown> = {};
  for (const name of PASSED_ON) {
    const value = member(init, name) ?? member(request, name);
    // A Request always has a mode, but that of a page's navigation cannot be asked for.
    if (value !== undefined && value !== "" && value !== "navigate") passed[name] = value;
  }
  if (init.referrer !== undefined) passed.referrer = init.referrer;
  const idempotent = isIdempotent(init, method, headers);
  return { path, method, headers, idempotent, noHedge, init: passed };
}

export function isRequest(input: string | URL | Request): input is Request {
  return typeof input === "object" && !(input instanceof URL) && "method" in input;
}

/** The body that an init names; `null` and absent ones count as none. */
export function bodyOf(body: unknown): FetchBody {
  if (body === undefined || body === null) return NO_BODY;
  if (typeof body === "string") return replayed(body);
  if (body instanceof URLSearchParams)
    return replayed(body.toString(), "application/x-www-form-urlencoded;charset=UTF-8");
  if (body instanceof Blob) return { value: body, bytes: body, replayable: true, type: undefined };
  // Copied, as `fetch` does: the caller may write into its own while a second copy waits.
  if (body instanceof ArrayBuffer) return replayed(new Uint8Array(body.slice(0)));
  if (ArrayBuffer.isView(body))
    return replayed(new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice());
  if (body instanceof UndiciFormData) return once(body as unknown as FormData);
  if (body instanceof FormData) {
    // The form class built into Node is not the one that the undici package knows.
    const encoded = new Response(body);
    return { ...once(encoded.body), type: encoded.headers.get("content-type") ?? undefined };
  }
  if (isStreamed(body)) return once(body);
  return replayed(String(body));
}

/**
 * A `Request`'s body: kept for replay if all of it is in memory and within the limit, else sent
 * once, as it comes.
 */
export async function requestBodyOf(request: Request, maxBytes: number): Promise<FetchBody> {
  const stream = request.body;
  if (stream === null) return NO_BODY;
  if (request.bodyUsed || stream.locked)
    throw new TypeError("The body of this Request has been read already");
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  while (sizeBytes <= maxBytes) {
    const reading = reader.read();
    const read = await Promise.race([reading, nextTurn()]);
    if (read === undefined) return once(joined(chunks, reader, reading));
    if (read.done) return replayed(Buffer.concat(chunks));
    chunks.push(read.value);
    sizeBytes += read.value.byteLength;
  }
  return once(joined(chunks, reader, undefined));
}

async function* joined(
  chunks: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
  reading: ReturnType<typeof reader.read> | undefined,
): AsyncGenerator<Uint8Array> {
  let ended = false;
  try {
    yield* chunks;
    for (let next = await (reading ?? reader.read()); ; next = await reader.read()) {
      ended = next.done === true;
      if (next.value === undefined) return;
      yield next.value;
    }
  } finally {
    if (!ended) reader.cancel().catch(ignore);
  }
}

/** What is in memory has arrived by then; what must be waited for is streamed instead. */
function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(resolve, undefined));
}

function replayed(bytes: string | Uint8Array<ArrayBuffer>, type?: string): FetchBody {
  return { value: bytes, bytes, replayable: true, type };
}

function once(value: FetchBody["value"]): FetchBody {
  return { value, bytes: undefined, replayable: false, type: undefined };
}

function isStreamed(body: object): body is AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in body || body instanceof ReadableStream;
}

function headersOf(headers: FetchInit["headers"]): [string, string][] {
  if (headers === undefined || headers === null) return [];
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return pairs.map(([name, value]): [string, string] => [String(name), String(value)]);
}

function isIdempotent(
  init: FetchInit,
  method: string,
  headers: readonly (readonly [string, string])[],
): boolean {
  if (init.idempotent !== undefined) return init.idempotent;
  if (isIdempotentMethod(method)) return true;
  return headers.some(([name]) => name.toLowerCase() === "idempotency-key");
}

/** The types of Node know fewer members than its `fetch` does. */
function member(of: object | undefined, name: string): unknown {
  return (of as Record<string, unknown> | undefined)?.[name];
}

function ignore(): void {}
