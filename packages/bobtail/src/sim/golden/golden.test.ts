import { expect, test } from "vitest";
import { articleBalancing, articlePolicies } from "./article-balancing.ts";
import { articleBudget } from "./article-budget.ts";
import { articleFanOut, articleHedgeDelays } from "./article-fan-out.ts";

const percent = (ratio: number, digits: number) => `${(100 * ratio).toFixed(digits)}%`;

test("the six policies of the balancing article come out to every printed digit, picked by our balancers", () => {
  const table = articlePolicies.map((policy) => {
    const row = articleBalancing(policy);
    return [
      policy.name,
      row.p50Ms.toFixed(1),
      row.p99Ms.toFixed(0),
      row.p999Ms.toFixed(0),
      percent(row.timedOutRatio, 2),
      percent(row.toSlowRatio, 1),
    ].join(" | ");
  });
  expect(table).toEqual([
    "round robin | 8.0 | 1057 | 1170 | 6.85% | 10.0%",
    "random | 9.8 | 1054 | 1170 | 6.86% | 10.0%",
    "least outstanding | 7.2 | 60 | 165 | 0.00% | 2.6%",
    "least outstanding, stale | 22.1 | 193 | 557 | 0.00% | 2.6%",
    "two choices | 7.7 | 71 | 179 | 0.00% | 3.0%",
    "two choices, stale | 9.7 | 102 | 228 | 0.00% | 3.0%",
  ]);
});

test("the hedged fan-out of the balancing article comes out to every printed digit", () => {
  const { leaf, rows } = articleFanOut();
  expect([leaf.p50Ms, leaf.p95Ms, leaf.p99Ms].map((ms) => ms.toFixed(1))).toEqual([
    "3.7",
    "7.4",
    "57.8",
  ]);
  expect(
    rows.map((r) => [r.p50Ms.toFixed(1), r.p99Ms.toFixed(1), percent(r.extraRatio, 1)]),
  ).toEqual([
    ["84.7", "153.3", "0.0%"],
    ["11.0", "22.4", "5.0%"],
    ["13.2", "25.6", "1.6%"],
  ]);
});

test("the hedge delays of the fan-out lesson come out to every printed digit", () => {
  const { leaf, leafP90Ms, rows } = articleHedgeDelays();
  expect([leaf.p50Ms, leafP90Ms, leaf.p95Ms, leaf.p99Ms].map((ms) => ms.toFixed(1))).toEqual([
    "4.0",
    "6.5",
    "7.7",
    "56.3",
  ]);
  expect(
    rows.map((r) => [percent(r.extraRatio, 1), r.p50Ms.toFixed(1), r.p99Ms.toFixed(1)]),
  ).toEqual([
    ["0.0%", "63.4", "84.9"],
    ["50.2%", "9.2", "53.9"],
    ["10.0%", "11.3", "55.5"],
    ["5.0%", "12.4", "57.8"],
    ["0.9%", "59.2", "68.9"],
    ["5.0%", "63.4", "84.9"],
  ]);
});

test("the budgeted hedger of the fan-out lesson comes out to every printed digit, paid by our budget", () => {
  expect(articleBudget().map((r) => `${r.p99Ms.toFixed(1)} x${r.loadFactor.toFixed(2)}`)).toEqual([
    "91.1 x1.00",
    "14.9 x1.02",
    "14.9 x1.02",
    "156.0 x1.00",
    "144.3 x1.41",
    "155.8 x1.05",
  ]);
});
