import type { Palette } from "../terminal/palette.ts";
import type { Check } from "./checks.ts";
import type { ComingRow } from "./coming-rows.ts";
import type { Verdict } from "./run-checks.ts";

export interface VerifyReport {
  readonly checks: readonly Check[];
  readonly verdicts: readonly Verdict[];
  readonly coming: readonly ComingRow[];
  readonly quick: boolean;
  readonly wallMs: number;
}

const WIDTHS = { row: 4, fact: 92, number: 9, tolerance: 12 } as const;

/** One table, and what failed once more below it. */
export function verifyText(report: VerifyReport, palette: Palette): string {
  const { coming, quick, verdicts, wallMs } = report;
  const lines = [palette.bold(line("row", "fact", ["expected", "got", "tolerance"], "verdict"))];
  for (const verdict of verdicts) lines.push(rowText(report, verdict, palette));
  for (const { row, fact, feature } of coming)
    lines.push(palette.dim(line(String(row), fact, ["", "", ""], `comes with ${feature}`)));
  const failed = verdicts.filter((verdict) => !verdict.holds);
  const passed = verdicts.length - failed.length;
  lines.push("");
  if (quick) lines.push("Quick: fewer requests, and tolerances wider by what that costs.");
  lines.push(
    `${passed} passed, ${failed.length} failed, ${coming.length} rows to come, ${(wallMs / 1000).toFixed(1)} s`,
  );
  for (const verdict of failed) lines.push(rowText(report, verdict, palette));
  return `${lines.join("\n")}\n`;
}

function rowText(report: VerifyReport, verdict: Verdict, palette: Palette): string {
  const check = checkOf(report, verdict);
  const { row, fact, expected } = check;
  const numbers = [show(expected), show(verdict.got), toleranceOf(check, report)] as const;
  return line(
    String(row),
    fact,
    numbers,
    verdict.holds ? palette.green("pass") : palette.red("FAIL"),
  );
}

function line(
  row: string,
  fact: string,
  numbers: readonly [string, string, string],
  verdict: string,
): string {
  const [expected, got, tolerance] = numbers;
  return [
    row.padStart(WIDTHS.row),
    fact.padEnd(WIDTHS.fact),
    expected.padStart(WIDTHS.number),
    got.padStart(WIDTHS.number),
    tolerance.padStart(WIDTHS.tolerance),
    ` ${verdict}`,
  ].join(" ");
}

export function verifyJson(report: VerifyReport): Record<string, unknown> {
  const { coming, quick, verdicts, wallMs } = report;
  return {
    schema: "bobtail.verify/1",
    ok: verdicts.every((verdict) => verdict.holds),
    quick,
    wall_ms: Math.round(wallMs),
    rows: verdicts.map((verdict) => {
      const check = checkOf(report, verdict);
      const { row, id, by, fact, source, expected } = check;
      // JSON has no NaN and no Infinity; a value that is none is a failure all the same.
      const got = Number.isFinite(verdict.got) ? verdict.got : null;
      return {
        row,
        id,
        by,
        fact,
        source,
        expected,
        got,
        tolerance: toleranceOf(check, report),
        verdict: verdict.holds ? "pass" : "fail",
        wall_ms: Math.round(verdict.wallMs),
      };
    }),
    coming,
  };
}

/** The one that was applied. */
function toleranceOf({ tolerance, quickSlack = 1 }: Check, { quick }: VerifyReport): string {
  return quick && quickSlack !== 1 && /\d/.test(tolerance)
    ? `${tolerance} x ${quickSlack}`
    : tolerance;
}

function checkOf({ checks }: VerifyReport, { index }: Verdict): Check {
  const check = checks[index];
  if (check === undefined) throw new Error(`no check ${index}`);
  return check;
}

function show(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}
