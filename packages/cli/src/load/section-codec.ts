import { Histogram } from "bobtail/engine";
import { countKind } from "./flight.ts";
import { emptySection, type Ledger, type LoadSection } from "./load-report.ts";

/** The clocks of a section. */
export type HistogramName = {
  [K in keyof LoadSection]: LoadSection[K] extends Histogram ? K : never;
}[keyof LoadSection];

/** All of them, in the order in which a section has them. */
export const HISTOGRAM_NAMES: readonly HistogramName[] = Object.entries(emptySection(0))
  .filter(([, part]) => part instanceof Histogram)
  .map(([name]) => name as HistogramName);

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
  names: readonly HistogramName[] = HISTOGRAM_NAMES,
): SectionBytes {
  const { ledger, statuses, failures } = section;
  const histograms: SectionBytes["histograms"] = {};
  for (const name of names) histograms[name] = section[name].encode();
  return { ledger: { ...ledger }, histograms, statuses, failures };
}

export function decodeSection(bytes: SectionBytes): LoadSection {
  const section = emptySection(0);
  for (const name of HISTOGRAM_NAMES) {
    const encoded = bytes.histograms[name];
    if (encoded !== undefined) section[name].add(Histogram.decode(encoded));
  }
  addCounts(section, bytes);
  return section;
}

/** Makes it the sum of the parts, whatever it was. */
export function sumSections(section: LoadSection, parts: readonly LoadSection[]): void {
  for (const name of HISTOGRAM_NAMES) section[name].reset();
  for (const key of Object.keys(section.ledger) as (keyof Ledger)[]) section.ledger[key] = 0;
  section.statuses.clear();
  section.failures.clear();
  for (const part of parts) {
    for (const name of HISTOGRAM_NAMES) section[name].add(part[name]);
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
