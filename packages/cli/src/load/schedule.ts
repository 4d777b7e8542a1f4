import { seededRng } from "bobtail/engine";
import { Arrivals } from "./arrivals.ts";
import type { LoadPlan } from "./load-options.ts";
import { emptySection, type LoadSection } from "./load-report.ts";

/** The planned sends of a whole run: those of the warm-up, then those that are measured. */
export class Schedule {
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  /** When the next request is due, in ms from the start; Infinity when none is left. */
  nextMs: number;
  /** The part of the run that it belongs to. */
  section: LoadSection;
  private readonly early: Arrivals;
  private readonly late: Arrivals;

  constructor(plan: LoadPlan) {
    const { warmupCount, warmupMs, count, durationMs, pattern } = plan;
    const rng = seededRng(plan.seed);
    this.warmup = emptySection(warmupCount);
    this.measured = emptySection(count);
    this.early = new Arrivals({
      pattern,
      count: warmupCount,
      startMs: 0,
      durationMs: warmupMs,
      rng: rng.split("warm-up"),
    });
    this.late = new Arrivals({
      pattern,
      count,
      startMs: warmupMs,
      durationMs,
      rng: rng.split("measured"),
    });
    this.section = this.warmup;
    this.nextMs = 0;
    this.advance();
  }

  advance(): void {
    if (this.section === this.warmup) {
      this.nextMs = this.early.next();
      if (this.nextMs < Number.POSITIVE_INFINITY) return;
      this.section = this.measured;
    }
    this.nextMs = this.late.next();
  }

  /** Nothing more will be sent: what is left was planned and is not. */
  stop(): void {
    for (const { ledger } of [this.warmup, this.measured])
      ledger.unsent = ledger.planned - ledger.sent - ledger.dropped;
    this.nextMs = Number.POSITIVE_INFINITY;
  }
}
