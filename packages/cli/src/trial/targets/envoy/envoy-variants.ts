import type { TargetTimes } from "../target-times.ts";

/** The pieces that Envoy's targets are made of; every default that decides is written out. */

export const ROUND_ROBIN = "lb_policy: ROUND_ROBIN";

/** `choices` are drawn with replacement; 2 is Envoy's default. */
export function leastRequest(choices: number): string {
  return `
lb_policy: LEAST_REQUEST
least_request_lb_config: { choice_count: ${choices} }`;
}

/** Envoy's defaults but for the two that make it inert in a short run: it looks every 10 s, and may eject 10 %. */
export const OUTLIER = `
outlier_detection:
  interval: 1s
  base_ejection_time: 5s
  max_ejection_percent: 50
  consecutive_5xx: 5
  enforcing_consecutive_5xx: 100
  success_rate_minimum_hosts: 5
  success_rate_request_volume: 50
  success_rate_stdev_factor: 1900
  enforcing_success_rate: 100`;

/**
 * The same where hedges are sent: a try that outlives the hedge delay counts as an error of its host, so five
 * in a row are no evidence any more.
 */
export const OUTLIER_WITH_HEDGES: string = OUTLIER.replace(
  "consecutive_5xx: 5",
  "consecutive_5xx: 20",
);

/** The second copy is a retry to Envoy: it needs a reason to retry, which then is one for failures too. */
export function hedge({ hedgeDelayMs }: TargetTimes): string {
  return `
hedge_policy: { hedge_on_per_try_timeout: true }
retry_policy:
  retry_on: 5xx,reset,connect-failure
  num_retries: 1
  per_try_timeout: ${hedgeDelayMs / 1_000}s
  retry_host_predicate:
  - name: envoy.retry_host_predicates.previous_hosts
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate
  host_selection_retry_max_attempts: 5`;
}

/** Envoy's default is three retries, hedges included, at one time. */
export const UNLIMITED_RETRIES = "max_retries: 8192";

/** Of the requests under way, but three at least. */
export const RETRY_BUDGET = `
retry_budget:
  budget_percent: { value: 5 }
  min_retry_concurrency: 3`;
