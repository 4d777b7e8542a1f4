/** Units a latency may be written in. */
export type LatencyUnit = "ns" | "us" | "ms" | "s";

export const LATENCY_UNITS: readonly LatencyUnit[] = ["ns", "us", "ms", "s"];

export const MS_PER_LATENCY_UNIT: Readonly<Record<LatencyUnit, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1_000,
};

const UNIT_WORDS: ReadonlyMap<string, LatencyUnit> = new Map([
  ["ns", "ns"],
  ["nanos", "ns"],
  ["nanoseconds", "ns"],
  ["us", "us"],
  ["µs", "us"],
  ["μs", "us"],
  ["usec", "us"],
  ["micros", "us"],
  ["microseconds", "us"],
  ["ms", "ms"],
  ["msec", "ms"],
  ["millis", "ms"],
  ["milliseconds", "ms"],
  ["s", "s"],
  ["sec", "s"],
  ["secs", "s"],
  ["seconds", "s"],
]);

/** The unit that a name states by its last word (`latency_ms`, `durationMs`, `time (us)`); undefined where none. */
export function unitOfName(name: string): LatencyUnit | undefined {
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-zµμ]+/)
    .filter((word) => word !== "" && word !== "bucket");
  return words.length < 2 ? undefined : UNIT_WORDS.get(words.at(-1) ?? "");
}

/** A latency with its own unit, as `12.3ms`, in ms; undefined for any other text. */
export function readLatencyMs(text: string): number | undefined {
  const parts = /^(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?) ?(ns|us|µs|μs|ms|s)$/.exec(text);
  const unit = UNIT_WORDS.get(parts?.[2] ?? "");
  return unit === undefined ? undefined : Number(parts?.[1]) * MS_PER_LATENCY_UNIT[unit];
}
