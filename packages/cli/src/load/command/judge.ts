import { assertNever, type Histogram } from "bobtail/engine";
import { showMs, showPercent } from "../../plan/figures.ts";
import { failedCount, type LoadReport } from "../load-report.ts";
import { showRate } from "../output/describe-run.ts";
import { type Figure, figureOf, headlineFigure, showFigure } from "../output/percentiles.ts";
import type { Verdict } from "../output/run-record.ts";
import type { Condition, ConditionClock } from "./condition.ts";

type Judged = Pick<LoadReport, "measured" | "runMs">;

/** Whether a condition came true, what was measured for it; `unknown` where the sample cannot tell. */
export interface Finding {
  readonly isTrue: boolean | "unknown";
  readonly measured: string;
}

export function findingOf(condition: Condition, report: Judged): Finding {
  const { measure } = condition;
  const { ledger } = report.measured;
  const due = ledger.planned - ledger.unsent;
  switch (measure.kind) {
    case "quantile":
      return quantileFinding(condition, quantileFigure(measure.clock, measure.quantile, report));
    case "errors":
      return plainFinding(condition, failedCount(ledger) / due, showPercent);
    case "sent-ratio":
      return plainFinding(condition, ledger.sent / due, showPercent);
    case "sent-rate":
      return plainFinding(condition, (ledger.sent / report.runMs) * 1_000, showRate);
    default:
      return assertNever(measure);
  }
}

/** Of a `--fail-if`: it fails when its condition is true. */
export function judgeFailIf(condition: Condition, report: Judged): Verdict {
  const { isTrue, measured } = findingOf(condition, report);
  const verdict = isTrue === "unknown" ? "undecided" : isTrue ? "failed" : "held";
  return { condition: condition.text, verdict, measured };
}

function plainFinding(
  condition: Condition,
  value: number,
  show: (value: number) => string,
): Finding {
  if (Number.isNaN(value)) return { isTrue: "unknown", measured: "nothing was sent" };
  return { isTrue: isTrueOf(condition, value), measured: show(value) };
}

function isTrueOf({ isAbove, isInclusive, bound }: Condition, value: number): boolean {
  if (value === bound) return isInclusive;
  return isAbove ? value > bound : value < bound;
}

function quantileFinding(condition: Condition, figure: Figure): Finding {
  const { isAbove, bound } = condition;
  const measured = showFigure(figure);
  switch (figure.kind) {
    case "unsupported":
      return { isTrue: "unknown", measured };
    case "unbounded":
      return { isTrue: isAbove, measured };
    case "known": {
      const { ms } = figure;
      if (figure.bound === "at-least" && ms <= bound)
        return {
          isTrue: "unknown",
          measured: `${measured}, which is not known to be below ${showMs(bound)}`,
        };
      return { isTrue: isTrueOf(condition, ms), measured };
    }
  }
}

function quantileFigure(clock: ConditionClock, quantile: number, { measured }: Judged): Figure {
  const of = (histogram: Histogram): Figure => figureOf(histogram, quantile);
  switch (clock) {
    case "response":
      return headlineFigure(measured, quantile);
    case "ok":
      return of(measured.completed);
    case "service":
      return of(measured.service);
    case "lag":
      return of(measured.sendLag);
    case "first-byte":
      return of(measured.firstByte);
    case "gap":
      return of(measured.eventGap);
  }
}
