import { showCount, wrap } from "../../plan/figures.ts";
import type { LoadSection } from "../load-report.ts";

/** Where every planned request went, in two sums that add up; then answers by status and failures by kind. */
export function ledgerText(section: LoadSection, widthColumns: number): string[] {
  const { ledger, statuses, failures } = section;
  const { planned, sent, dropped, unsent, ok, httpErrors, transportErrors, timeouts, openAtEnd } =
    ledger;
  const lines = [
    sumLine(
      ["planned", planned],
      [
        ["sent", sent],
        ["dropped", dropped],
        ["unsent", unsent],
      ],
    ),
    sumLine(
      ["sent", sent],
      [
        ["ok", ok],
        ["http errors", httpErrors],
        ["transport errors", transportErrors],
        ["timeouts", timeouts],
        ["open at end", openAtEnd],
      ],
    ),
  ];
  const byStatus = [...statuses].sort(([a], [b]) => a - b);
  if (byStatus.length > 0)
    lines.push(
      `answers by status: ${byStatus.map(([code, c]) => `${code} ${showCount(c)}`).join(", ")}`,
    );
  const byKind = [...failures].sort(([, a], [, b]) => b - a);
  if (byKind.length > 0)
    lines.push(
      `transport errors: ${byKind.map(([kind, c]) => `${kind} ${showCount(c)}`).join(", ")}`,
    );
  return lines.map((line) =>
    wrap(line, widthColumns - 2)
      .replaceAll("\n", "\n    ")
      .replaceAll(NO_BREAK, " "),
  );
}

const NO_BREAK = "\u00a0";

type Term = readonly [name: string, count: number];

/** Lines are broken between the terms and not inside them. */
function sumLine([name, count]: Term, terms: readonly Term[]): string {
  const shown = terms.map(([term, n]) => `${term} ${showCount(n)}`.replaceAll(" ", NO_BREAK));
  return `${name} ${showCount(count)} = ${shown.join(` +${NO_BREAK}`)}`;
}
