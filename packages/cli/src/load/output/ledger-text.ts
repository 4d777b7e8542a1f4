import { showCount, wrap } from "../../plan/figures.ts";
import type { LoadSection } from "../load-report.ts";

/** Where every planned request went, in two sums that add up; then answers by status and failures by kind. */
export function ledgerText(section: LoadSection, widthColumns: number): string[] {
  const { ledger, statuses, failures } = section;
  const { planned, sent, dropped, unsent, ok, httpErrors, transportErrors, timeouts, openAtEnd } =
    ledger;
  const n = showCount;
  const lines = [
    `planned ${n(planned)} = sent ${n(sent)} + dropped ${n(dropped)} + unsent ${n(unsent)}`,
    `sent ${n(sent)} = ok ${n(ok)} + http errors ${n(httpErrors)} + transport errors ${n(transportErrors)} + timeouts ${n(timeouts)} + open at end ${n(openAtEnd)}`,
  ];
  const byStatus = [...statuses].sort(([a], [b]) => a - b);
  if (byStatus.length > 0)
    lines.push(`answers by status: ${byStatus.map(([code, c]) => `${code} ${n(c)}`).join(", ")}`);
  const byKind = [...failures].sort(([, a], [, b]) => b - a);
  if (byKind.length > 0)
    lines.push(`transport errors: ${byKind.map(([kind, c]) => `${kind} ${n(c)}`).join(", ")}`);
  return lines.map((line) => wrap(line, widthColumns - 2).replaceAll("\n", "\n    "));
}
