import type { AttemptKind } from "./attempt.ts";
import type { Budget } from "./budget.ts";
import type { BudgetOptions } from "./options.ts";
import { createTokenBudget } from "./token-budget.ts";

/** Takes extra attempts of that kind until one is refused. */
export function drain(budget: Budget, nowMs: number, kind: AttemptKind = "retry"): number {
  let taken = 0;
  while (taken < 100_000 && budget.tryWithdraw(kind, nowMs)) taken++;
  return taken;
}

export function deposits(budget: Budget, count: number, nowMs: number = 0): void {
  for (let i = 0; i < count; i++) budget.deposit(nowMs);
}

/** A budget whose first burst is spent, so that only what is earned counts. */
export function emptied(options: BudgetOptions): Budget {
  const budget = createTokenBudget(options, 0);
  drain(budget, 0);
  return budget;
}
