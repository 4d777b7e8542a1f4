import type { Budget } from "./budget.ts";
import type { BudgetOptions } from "./options.ts";

/** Placeholder signature: the budget is being written. */
export function createTokenBudget(_options: BudgetOptions, _nowMs: number): Budget {
  throw new Error("not here yet");
}
