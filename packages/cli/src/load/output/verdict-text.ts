import type { Palette } from "../../terminal/palette.ts";
import type { Verdict } from "./run-record.ts";

/** What became of each `--fail-if`. */
export function verdictLines(verdicts: readonly Verdict[], palette: Palette): string[] {
  return verdicts.map((one) => {
    const style = { held: palette.green, failed: palette.red, undecided: palette.yellow };
    return `${style[one.verdict](verdictWord(one))}: --fail-if ${one.condition}: measured ${one.measured}`;
  });
}

export function verdictWord({ verdict }: Verdict): string {
  return { held: "passed", failed: "FAILED", undecided: "cannot tell" }[verdict];
}
