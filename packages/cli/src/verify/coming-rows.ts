/** A row of the acceptance list about something that is not built yet. */
export interface ComingRow {
  readonly row: number;
  readonly fact: string;
  readonly feature: string;
}

/** They are checked from the moment that the feature is there. */
export const comingRows: readonly ComingRow[] = [
  {
    row: 17,
    fact: "interpreted stale counts, ten service times old",
    feature: "interpreted-stale",
  },
  { row: 21, fact: "least work of two, 200 servers", feature: "ties" },
  { row: 22, fact: "a tie across all of 10 servers is one queue", feature: "ties" },
  { row: 23, fact: "tied copies that both start, no network delay", feature: "ties" },
  { row: 24, fact: "tied copies with a stagger of twice the delay", feature: "ties" },
  { row: 25, fact: "tied p99 at load 0.9 against a single copy", feature: "ties" },
  { row: 26, fact: "join the idle queue, 100 and 10 servers", feature: "join-idle-queue" },
  { row: 44, fact: "reuse of a probe for 100, 50 and 32 servers", feature: "prequal" },
  { row: 47, fact: "one change of an endpoint moves one choice a client", feature: "subsetting" },
  { row: 48, fact: "aperture: equal shares for every server", feature: "subsetting" },
  { row: 49, fact: "rocksteadier: equal connections, little churn", feature: "subsetting" },
  { row: 50, fact: "rendezvous: fewest and most connections", feature: "subsetting" },
  { row: 51, fact: "bounded load is never above its bound", feature: "bounded-hash" },
  { row: 53, fact: "a frozen server and the planned send", feature: "load" },
  { row: 57, fact: "a limit that nothing fills stays as it is", feature: "adaptive concurrency" },
  { row: 58, fact: "prequal against weights on a rising load", feature: "prequal" },
  { row: 59, fact: "prequal on four equal servers", feature: "prequal" },
  { row: 60, fact: "all servers slow together: nothing is ejected", feature: "ejection" },
];
