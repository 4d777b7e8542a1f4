import { CommandFailure } from "../terminal/failure.ts";
import type { LogReader, ReaderSetup } from "./latency-log.ts";
import { isLatencyName } from "./latency-name.ts";
import { isSet, type ValueReader, valueReader } from "./value-reader.ts";

/** One JSON object a line; fields by name or by path (`timing.total_ms`). */
export function jsonLinesReader(setup: ReaderSetup): LogReader {
  const { sink, options } = setup;
  let field: string | undefined = options.field;
  let latencyOf: ValueReader | undefined;
  const pairOf = valueReader(options.pairField ?? "", setup);
  return {
    line(text) {
      if (text.trim() === "") return;
      const record = parseJson(text);
      if (record === undefined) return sink.skip("not JSON");
      if (typeof record !== "object" || record === null) return sink.skip("not a JSON object");
      field ??= latencyField(record, setup);
      latencyOf ??= valueReader(field, setup);
      const written = fieldAt(record, field);
      if (written === undefined || written === null) return sink.skip("without the field");
      const ms = latencyOf.toMs(written);
      if (Number.isNaN(ms)) return sink.skip("not a number");
      if (options.censoredField !== undefined && isSet(fieldAt(record, options.censoredField)))
        return sink.addCensored(ms);
      sink.add(ms);
      if (options.pairField === undefined) return;
      const backup = fieldAt(record, options.pairField);
      const backupMs = backup === undefined || backup === null ? Number.NaN : pairOf.toMs(backup);
      if (ms >= 0 && !Number.isNaN(backupMs)) sink.addPair({ primaryMs: ms, backupMs });
    },
    end() {},
  };
}

/** `undefined`: it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** By name, or by path into objects inside: `timing.total_ms`. */
export function fieldAt(record: object, path: string): unknown {
  if (Object.hasOwn(record, path)) return (record as Record<string, unknown>)[path];
  let value: unknown = record;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function latencyField(record: object, { place }: ReaderSetup): string {
  const keys = Object.keys(record);
  const named = keys.filter(isLatencyName);
  if (named.length === 1) return named[0] as string;
  const shown = keys.slice(0, 20).map((key) => JSON.stringify(key.slice(0, 40)));
  throw new CommandFailure(
    `${place()}: ${named.length > 1 ? "several fields could be" : "no field is named as"} the latency, of ${shown.join(", ") || "none"}`,
    "Name it: --field NAME, or --field timing.total_ms for a field inside another.",
  );
}
