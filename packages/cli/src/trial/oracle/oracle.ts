/** What an ideal balancer would give before the same backends: no real one is better beyond noise. */
export interface Oracle {
  /** Response times of all requests, ms. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Requests without a good answer; in [0, 1]. */
  readonly failedRatio: number;
  /** Share of the requests that the scenario's sick backends get while it is measured; in [0, 1]. It is above 0 where they are well for a part of that. */
  readonly sickShareRatio: number;
  /** Second copies that the ideal balancer sent, per request. */
  readonly extraRatio: number;
  /** `simulated`: the fault itself is. `stated`: its moments of change are left out, with the reason in `why`. */
  readonly how: "simulated" | "stated";
  /** One or two sentences: what the ideal balancer knows and does. */
  readonly why: string;
}
