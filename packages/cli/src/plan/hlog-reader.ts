import { CommandFailure } from "../terminal/failure.ts";
import { decodeHdr, HdrError } from "./hdr-decoder.ts";
import type { LogReader, ReaderSetup } from "./latency-log.ts";
import { type LatencyUnit, MS_PER_LATENCY_UNIT } from "./latency-unit.ts";

/**
 * A histogram log: one interval a line, `start,length,max,histogram`, with an optional `Tag=` before it.
 *
 * All intervals are added; with `--field` those of one tag. In a log that begins with an interval without a tag, as
 * HdrHistogram's own tools write them, those with a tag are other series and are left out. The format has no place for the
 * unit: a comment `#[Unit: us]` or `--unit` states it. A line that does not decode fails the log, since a part would mislead.
 */
export function hlogReader(setup: ReaderSetup): LogReader {
  const { sink, options, place } = setup;
  let unit: LatencyUnit | undefined = options.unit;
  let isMainUntagged: boolean | undefined;
  return {
    line(text) {
      if (text.startsWith("#")) {
        unit ??= statedUnit(text);
        return;
      }
      if (text.trim() === "" || text.startsWith('"')) return;
      const { tag, encoded } = fields(text);
      if (encoded === undefined) throw corrupt(place(), "fewer than four fields");
      isMainUntagged ??= tag === undefined;
      const isWanted =
        options.field === undefined ? !isMainUntagged || tag === undefined : tag === options.field;
      if (!isWanted) return;
      if (unit === undefined)
        throw new CommandFailure(
          `${place()}: the unit of its values is not stated`,
          "Say it with --unit: ns for most Java programs, us for wrk2 and `bobtail load`.",
        );
      addHistogram(encoded, MS_PER_LATENCY_UNIT[unit], setup);
    },
    end() {
      if (options.field !== undefined) sink.skip("no interval of that tag");
    },
  };
}

function statedUnit(comment: string): LatencyUnit | undefined {
  const found = /\b(?:value )?units?\s*[:=]\s*(ns|us|ms|s)\b/i.exec(comment);
  return found?.[1]?.toLowerCase() as LatencyUnit | undefined;
}

function fields(text: string): { tag: string | undefined; encoded: string | undefined } {
  const parts = text.split(",");
  const first = parts[0] ?? "";
  const tag = first.startsWith("Tag=") ? first.slice(4) : undefined;
  return { tag, encoded: parts[tag === undefined ? 3 : 4]?.trim() };
}

function addHistogram(encoded: string, msPerUnit: number, { sink, place }: ReaderSetup): void {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) throw corrupt(place(), "not base64");
  const found: [value: number, count: number][] = [];
  try {
    decodeHdr(Buffer.from(encoded, "base64"), (value, count) => found.push([value, count]));
  } catch (error) {
    if (error instanceof HdrError) throw corrupt(place(), error.message);
    throw error;
  }
  for (const [value, count] of found) sink.addMany(value * msPerUnit, count);
}

function corrupt(place: string, why: string): CommandFailure {
  return new CommandFailure(
    `${place}: the histogram is corrupt: ${why}`,
    "Copy the log again; it may have been cut or edited. To plan without this interval, delete the line.",
  );
}
