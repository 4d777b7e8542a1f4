/** What a header is to a proxy. Everything else is `pass`. */
export type HeaderRole =
  | "pass"
  | "hop-by-hop"
  | "host"
  | "content-length"
  | "transfer-encoding"
  | "connection"
  | "upgrade"
  | "expect"
  | "content-type"
  | "idempotency-key"
  | "bobtail"
  | "grpc-timeout"
  | "envoy-timeout"
  | "forwarded"
  | "x-forwarded-for"
  | "x-forwarded"
  | "via"
  | "retry-after"
  | "grpc-pushback";

/** No plain object: a header may be called `constructor`. */
const ROLES: ReadonlyMap<string, HeaderRole> = new Map(
  Object.entries<HeaderRole>({
    connection: "connection",
    "keep-alive": "hop-by-hop",
    "proxy-connection": "hop-by-hop",
    "proxy-authenticate": "hop-by-hop",
    "proxy-authorization": "hop-by-hop",
    te: "hop-by-hop",
    trailer: "hop-by-hop",
    "http2-settings": "hop-by-hop",
    upgrade: "upgrade",
    "transfer-encoding": "transfer-encoding",
    "content-length": "content-length",
    "content-type": "content-type",
    host: "host",
    expect: "expect",
    "idempotency-key": "idempotency-key",
    "grpc-timeout": "grpc-timeout",
    "x-envoy-expected-rq-timeout-ms": "envoy-timeout",
    forwarded: "forwarded",
    "x-forwarded-for": "x-forwarded-for",
    "x-forwarded-proto": "x-forwarded",
    "x-forwarded-host": "x-forwarded",
    via: "via",
    "retry-after": "retry-after",
    "grpc-retry-pushback-ms": "grpc-pushback",
  }),
);

/** Headers that a `Connection` header cannot take away: without them the message means something else. */
const PROTECTED: ReadonlySet<string> = new Set([
  "authorization",
  "cache-control",
  "content-encoding",
  "content-range",
  "cookie",
  "set-cookie",
  "date",
  "idempotency-key",
]);

const MAX_KNOWN_SPELLINGS = 1024;
const known = new Map<string, HeaderRole>();

/** The role of a header, in any spelling. Spellings are remembered, so that a usual one costs one look-up. */
export function roleOf(name: string): HeaderRole {
  const role = known.get(name);
  if (role !== undefined) return role;
  const lower = name.toLowerCase();
  const found =
    ROLES.get(lower) ?? (lower.startsWith("bobtail-") ? "bobtail" : ("pass" satisfies HeaderRole));
  if (known.size < MAX_KNOWN_SPELLINGS) known.set(name, found);
  return found;
}

/**
 * The headers that a `Connection` value names as meant for this hop alone, in lower case.
 * Those a proxy has a rule for are governed by that rule, and those that all recipients need stay.
 * Source: RFC 9110, section 7.6.1.
 */
export function nominated(connection: string): ReadonlySet<string> | undefined {
  let names: Set<string> | undefined;
  for (const part of connection.toLowerCase().split(",")) {
    const name = part.trim();
    if (name === "" || name === "close" || name === "keep-alive" || name === "upgrade") continue;
    if (roleOf(name) !== "pass" || PROTECTED.has(name)) continue;
    names ??= new Set();
    names.add(name);
  }
  return names;
}

/** Whether a comma-separated value has that token, in any case. */
export function hasToken(value: string, token: string): boolean {
  return value
    .toLowerCase()
    .split(",")
    .some((part) => part.trim() === token);
}
