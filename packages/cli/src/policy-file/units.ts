/** What a written value means, or why it means nothing and how to write it. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string; readonly remedy: string };

/** An address to listen on. An empty host is every interface. */
export interface ListenAddress {
  readonly host: string;
  /** 0 to 65,535; 0 lets the system choose. */
  readonly port: number;
}

/** One day: longer than any call, and well inside what a timer of the system can hold. */
const MAX_DURATION_MS = 86_400_000;

const MS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

const BYTES_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ["B", 1],
  ["kB", 1000],
  ["KB", 1000],
  ["MB", 1_000_000],
  ["KiB", 1024],
  ["MiB", 1_048_576],
  ["GiB", 1_073_741_824],
]);

/** `12ms`, `1.5s`, `2m`, `1h`, as the pattern of a JSON Schema. */
export const DURATION_PATTERN = "^[0-9]+(\\.[0-9]+)?(ms|s|m|h)$";
export const RATIO_PATTERN = "^[0-9]+(\\.[0-9]+)?%$";
export const SIZE_PATTERN = "^[0-9]+(\\.[0-9]+)?(B|kB|KB|MB|KiB|MiB|GiB)$";

/** A duration in ms, from 0 to one day. A bare number is refused: 30 could be seconds or milliseconds. */
export function readDurationMs(written: unknown): Reading<number> {
  if (typeof written === "number") {
    const example = Number.isFinite(written) && written >= 0 ? written : 12;
    return no(
      `a duration needs a unit, received ${show(written)}`,
      `Write ${example}ms or ${example}s.`,
    );
  }
  const parts = typeof written === "string" ? /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(written) : null;
  const factor = MS_PER_UNIT.get(parts?.[2] ?? "");
  if (parts === null || factor === undefined) {
    return no(
      `expected a duration, received ${show(written)}`,
      "Write a number and a unit: 12ms, 1.5s, 2m or 1h.",
    );
  }
  const valueMs = Number(parts[1]) * factor;
  return valueMs <= MAX_DURATION_MS
    ? { ok: true, value: valueMs }
    : no(`${show(written)} is longer than one day`, "Write at most 24h.");
}

/** A ratio: `5%` and `0.05` are the same. The range is the field's own. */
export function readRatio(written: unknown): Reading<number> {
  if (typeof written === "number" && Number.isFinite(written)) return { ok: true, value: written };
  const parts = typeof written === "string" ? /^(\d+(?:\.\d+)?)%$/.exec(written) : null;
  return parts === null
    ? no(`expected a ratio, received ${show(written)}`, "Write 5% or 0.05.")
    : { ok: true, value: Number((Number(parts[1]) / 100).toPrecision(15)) };
}

/** A size in whole bytes: `64KiB`, `1MB`, or a bare number of bytes. */
export function readSizeBytes(written: unknown): Reading<number> {
  const parts =
    typeof written === "string" ? /^(\d+(?:\.\d+)?)(B|[kK]B|MB|[KMG]iB)$/.exec(written) : null;
  const factor = BYTES_PER_UNIT.get(parts?.[2] ?? "");
  const sizeBytes =
    typeof written === "number" ? written : factor === undefined ? -1 : Number(parts?.[1]) * factor;
  return Number.isSafeInteger(sizeBytes) && sizeBytes >= 0
    ? { ok: true, value: sizeBytes }
    : no(
        `expected a size in whole bytes, received ${show(written)}`,
        "Write 64KiB, 1MiB or a number of bytes.",
      );
}

/** `host:port`, `[::1]:port` or `:port`. */
export function readListenAddress(written: unknown): Reading<ListenAddress> {
  const remedy = "Write host:port, [::1]:port, or :port for every interface.";
  if (typeof written === "number")
    return no(`expected an address, received the number ${written}`, `Write :${written}.`);
  if (typeof written !== "string")
    return no(`expected an address, received ${show(written)}`, remedy);
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9_.-]*)):(\d{1,5})$/.exec(written);
  if (parts === null) {
    const scheme = /^[a-z]+:\/\/([^/@]*)$/.exec(written);
    return no(
      `expected an address, received ${show(written)}`,
      scheme === null ? remedy : `${remedy} An address has no scheme: ${scheme[1]}.`,
    );
  }
  const port = Number(parts[3]);
  if (port > 65_535) return no(`port ${port} is above 65535`, remedy);
  return { ok: true, value: { host: parts[1] ?? parts[2] ?? "", port } };
}

/** As it would be written: the inverse of {@link readListenAddress}. */
export function showListenAddress({ host, port }: ListenAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A value as a message shows it: short, on one line, no control characters. */
export function show(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "string") return `a ${typeof value}`;
  // Hidden before the text is cut: half a password is one too.
  const hidden = value.slice(0, 1024).replace(/\/\/\S{0,512}@/g, "//***@");
  return JSON.stringify(hidden.length > 60 ? `${hidden.slice(0, 57)}...` : hidden);
}

/** A value that means nothing. */
export function no(reason: string, remedy: string): { ok: false; reason: string; remedy: string } {
  return { ok: false, reason, remedy };
}
