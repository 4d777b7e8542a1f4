import { checkOption } from "../core/errors.ts";
import { Histogram } from "../core/histogram.ts";
import type { SimResult } from "./result.ts";

const SCHEMA = "bobtail-sim-result/1";

/** A result as JSON can hold it: histograms as hexadecimal text. */
export type EncodedResult = Readonly<Record<string, unknown>>;

export function encodeResult(r: SimResult): EncodedResult {
  return {
    ...r,
    schema: SCHEMA,
    latency: toHex(r.latency),
    failedAfter: toHex(r.failedAfter),
    root: toHex(r.root),
    batches: r.batches.map(toHex),
  };
}

/** Throws `ERR_BOBTAIL_OPTION` for anything that `encodeResult` could not have made. */
export function decodeResult(encoded: EncodedResult): SimResult {
  checkOption({ schema: encoded.schema }, SCHEMA, encoded.schema === SCHEMA);
  const { schema: _, ...rest } = encoded;
  for (const name of ["callCount", "failedCount", "attemptCount", "runs", "measuredMs"]) {
    const value = rest[name];
    checkOption({ [name]: value }, "a number >= 0", typeof value === "number" && value >= 0);
  }
  for (const name of ["servers", "batches", "digests"])
    checkOption({ [name]: rest[name] }, "a list", Array.isArray(rest[name]));
  return {
    ...(rest as unknown as SimResult),
    latency: fromHex("latency", rest.latency),
    failedAfter: fromHex("failedAfter", rest.failedAfter),
    root: fromHex("root", rest.root),
    batches: (rest.batches as unknown[]).map((batch) => fromHex("batches", batch)),
  };
}

function toHex(histogram: Histogram): string {
  let text = "";
  for (const byte of histogram.encode()) text += byte.toString(16).padStart(2, "0");
  return text;
}

function fromHex(name: string, text: unknown): Histogram {
  const isHex = typeof text === "string" && /^([0-9a-f]{2})*$/.test(text);
  checkOption({ [name]: text }, "a histogram in hexadecimal digits", isHex);
  const digits = text as string;
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return Histogram.decode(bytes);
}
