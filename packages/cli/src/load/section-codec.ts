import { Histogram } from "bobtail/engine";
import { countKind } from "./flight.ts";
import { emptySection, type Ledger, type LoadSection } from "./load-report.ts";

type HistogramName = {
  [K in keyof LoadSection]: LoadSection[K] extends Histogram ? K : never;
}[keyof LoadSection];

const HISTOGRAMS: readonly HistogramName[] = [
  "completed",
  "all",
  "failed",
  "service",
  "pacingLag",
  "queueing",
  "sendLag",
  "connect",
  "firstByte",
  "eventGap",
];

/** What is looked at while a run goes on. */
export const LIVE: readonly HistogramName[] = ["completed", "all", "pacingLag", "sendLag"];

/** A section as it goes from one thread to another. */
export interface SectionBytes {
  readonly ledger: Ledger;
  readonly histograms: Partial<Record<HistogramName, Uint8Array>>;
  readonly statuses: Map<number, number>;
  readonly failures: Map<string, number>;
}

export function encodeSection(
  section: LoadSection,
  names: readonly HistogramName[] = HISTOGRAMS,
): SectionBytes {
  const { ledger, statuses, failures } = section;
  const histograms: SectionBytes["histograms"] = {};
  for (const name of names) histograms[name] = section[name].encode();
  return { ledger: { ...ledger }, histograms, statuses, failures };
}

export function decodeSection(bytes: SectionBytes): LoadSection {
  const section = emptySection(0);
  for (const name of HISTOGRAMS) {
    const encoded = bytes.histograms[name];
    if (encoded !== undefined) section[name].add(Histogram.decode(encoded));
  }
  addCounts(section, bytes);
  return section;
}

/** Makes it the sum of the parts, whatever it was. */
export function sumSections(section: LoadSection, parts: readonly LoadSection[]): void {
  for (const name of HISTOGRAMS) section[name].reset();
  for (const key of Object.keys(section.ledger) as (keyof Ledger)[]) section.ledger[key] = 0;
  section.statuses.clear();
  section.failures.clear();
  for (const part of parts) {
    for (const name of HISTOGRAMS) section[name].add(part[name]);
    addCounts(section, part);
  }
}

function addCounts(
  section: LoadSection,
  { ledger, statuses, failures }: Pick<LoadSection, "ledger" | "statuses" | "failures">,
): void {
  for (const key of Object.keys(section.ledger) as (keyof Ledger)[])
    section.ledger[key] += ledger[key];
  for (const [status, count] of statuses)
    section.statuses.set(status, (section.statuses.get(status) ?? 0) + count);
  for (const [kind, count] of failures) countKind(section.failures, kind, count);
}
