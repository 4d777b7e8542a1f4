import { isIP } from "node:net";
import { z } from "zod";
import { nearest } from "./nearest.ts";
import {
  DURATION_PATTERN,
  no,
  RATIO_PATTERN,
  type Reading,
  readDurationMs,
  readRatio,
  readSizeBytes,
  SIZE_PATTERN,
  show,
} from "./units.ts";

/**
 * A field read by a function of our own, so that its message says what was wrong and how to write it.
 * `shape` is what the JSON Schema says of it.
 */
export function field<T>(
  shape: Readonly<Record<string, unknown>>,
  read: (written: unknown) => Reading<T>,
): z.ZodType<T> {
  return z
    .unknown()
    .transform((written, context): T => {
      const reading = read(written);
      if (reading.ok) return reading.value;
      context.addIssue({
        code: "custom",
        message: reading.reason,
        params: { remedy: reading.remedy },
      });
      return z.NEVER;
    })
    .meta(shape);
}

/** Milliseconds above 0; with `whole`, a fraction is rounded up, as sockets are timed in whole ones. */
export function duration(
  description: string,
  { whole = true }: { whole?: boolean } = {},
): z.ZodType<number> {
  const shape = { type: "string", pattern: DURATION_PATTERN, description };
  return field(shape, (written) => {
    const reading = readDurationMs(written);
    if (!reading.ok) return reading;
    if (reading.value > 0) {
      return { ok: true, value: whole ? Math.ceil(reading.value) : reading.value };
    }
    return no("must be longer than 0", "Write a duration above 0, or leave the key out.");
  });
}

export function ratio(description: string, min: number, max: number): z.ZodType<number> {
  const anyOf = [
    { type: "number", minimum: min, maximum: max },
    { type: "string", pattern: RATIO_PATTERN },
  ];
  return field({ anyOf, description }, (written) => {
    const reading = readRatio(written);
    if (!reading.ok || (reading.value >= min && reading.value <= max)) return reading;
    const meant = reading.value > max && typeof written === "number" && written <= 100;
    return no(
      `${show(written)} is out of range: a ratio from ${min} to ${max} (${min * 100}% to ${max * 100}%)`,
      meant ? `Did you mean ${written}%?` : `Write at least ${min} and at most ${max}.`,
    );
  });
}

/** Bytes in `[min, max]`. */
export function size(description: string, min: number, max: number): z.ZodType<number> {
  const anyOf = [
    { type: "integer", minimum: min, maximum: max },
    { type: "string", pattern: SIZE_PATTERN },
  ];
  return field({ anyOf, description }, (written) => {
    const reading = readSizeBytes(written);
    if (!reading.ok || (reading.value >= min && reading.value <= max)) return reading;
    const range = `from ${min} to ${max} bytes`;
    return no(`${show(written)} is out of range: a size ${range}`, `Write a size ${range}.`);
  });
}

export function count(
  description: string,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): z.ZodType<number> {
  const bounded = max < Number.MAX_SAFE_INTEGER;
  const range = bounded ? `from ${min} to ${max}` : `of at least ${min}`;
  const shape = { type: "integer", minimum: min, ...(bounded && { maximum: max }), description };
  return field(shape, (written) => {
    const ok = Number.isSafeInteger(written) && Number(written) >= min && Number(written) <= max;
    if (ok) return { ok: true, value: Number(written) };
    const remedy = bounded ? `Write one from ${min} to ${max}.` : `Write ${min} or more.`;
    return no(`expected a whole number ${range}, received ${show(written)}`, remedy);
  });
}

/** A number in `[min, max]`, or above `min` when `exclusive`. */
export function quantity(
  description: string,
  {
    min,
    max = Number.MAX_VALUE,
    exclusive = false,
  }: { min: number; max?: number; exclusive?: boolean },
): z.ZodType<number> {
  const low = exclusive ? { exclusiveMinimum: min } : { minimum: min };
  const high = max < Number.MAX_VALUE ? { maximum: max } : {};
  return field({ type: "number", ...low, ...high, description }, (written) => {
    const value = typeof written === "number" ? written : Number.NaN;
    if ((exclusive ? value > min : value >= min) && value <= max) return { ok: true, value };
    const range = `${exclusive ? "above" : "of at least"} ${min}${"maximum" in high ? `, at most ${max}` : ""}`;
    return no(`expected a number ${range}, received ${show(written)}`, `Write a number ${range}.`);
  });
}

export function flag(description: string): z.ZodType<boolean> {
  return field({ type: "boolean", description }, (written) =>
    typeof written === "boolean"
      ? { ok: true, value: written }
      : no(`expected true or false, received ${show(written)}`, "Write true or false."),
  );
}

/** One of a few words. `planned` are words of a later version, refused by name. */
export function choice<const W extends string>(
  description: string,
  words: readonly W[],
  planned: readonly string[] = [],
): z.ZodType<W> {
  return field({ type: "string", enum: words, description }, (written) => {
    const known = words.find((word) => word === written);
    if (known !== undefined) return { ok: true, value: known };
    const all = `One of: ${words.join(", ")}.`;
    if (typeof written === "string" && planned.includes(written)) {
      return no(`"${written}" is not supported yet in this version`, all);
    }
    const near = typeof written === "string" ? nearest(written, words) : undefined;
    const reason = `expected one of ${words.join(", ")}, received ${show(written)}`;
    return no(reason, near === undefined ? all : `Did you mean "${near}"?`);
  });
}

export function text(description: string, maxLength = 4096): z.ZodType<string> {
  return field({ type: "string", minLength: 1, maxLength, description }, (written) => {
    if (typeof written === "string" && written !== "" && written.length <= maxLength) {
      return { ok: true, value: written };
    }
    const long = typeof written === "string" && written !== "";
    return no(
      long ? `longer than ${maxLength} characters` : `expected a text, received ${show(written)}`,
      "Write a text; put quotes round it if it looks like a number.",
    );
  });
}

/** An address block such as `10.0.0.0/8`, or one address. */
export function addressBlock(description: string): z.ZodType<string> {
  return field({ type: "string", description }, (written) => {
    const [address = "", prefix, ...rest] = typeof written === "string" ? written.split("/") : [];
    const version = isIP(address);
    const bits = version === 6 ? 128 : 32;
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (version !== 0 && rest.length === 0 && length >= 0 && length <= bits) {
      return { ok: true, value: `${address}/${length}` };
    }
    const remedy = "Write 10.0.0.0/8, fd00::/8 or one address.";
    return no(`expected a block of addresses, received ${show(written)}`, remedy);
  });
}
