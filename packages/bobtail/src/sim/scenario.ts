import type { ServiceOptions } from "../policies/options.ts";
import type { Law } from "./law.ts";

/** A scenario file: one world, and the policies that are compared in it on the same random numbers. Plain data. */
export interface Scenario extends WorldSetup {
  /** For titles; default "scenario". */
  readonly name?: string | undefined;
  /** One policy to run, or several by name. Exactly one of the two. */
  readonly policy?: ServiceOptions | undefined;
  readonly policies?: Readonly<Record<string, ServiceOptions>> | undefined;
  /** Independent replications of each policy; a whole number in [1, 1,000], default 1. */
  readonly runs?: number | undefined;
  /** A whole number; the same seed gives the same run, decision for decision. Default 1. */
  readonly seed?: number | undefined;
}

/** One world with one policy: what `World` runs. */
export interface WorldOptions extends WorldSetup {
  readonly policy: ServiceOptions;
  readonly seed?: number | undefined;
}

/** A fleet, the traffic it gets, the clients before it. */
export interface WorldSetup {
  /** The servers of one shard; at least one. */
  readonly servers: readonly ServerOptions[];
  /** Copies of that fleet, each with data of its own; a whole number in [1, 10,000], default 1. Leaf i goes to shard i modulo this. */
  readonly shards?: number | undefined;
  /** The size of a request: what it takes on a server of slowdown 1. Or `classes`. */
  readonly size?: Law | undefined;
  /** Kinds of requests, each with latency class, size and urgency of its own. */
  readonly classes?: readonly RequestClass[] | undefined;
  /** Copies of a request share its size (default), or each copy draws anew, which makes redundancy look free. */
  readonly copies?: "same-size" | "independent" | undefined;
  /** What the client tells the balancer a call will cost: 1 (default), or its true size. */
  readonly cost?: "one" | "size" | undefined;
  readonly arrivals: Arrivals;
  /** Root requests that come in, those of the warm-up included; a whole number >= 1. */
  readonly requests: number;
  /** Share of the requests, the first ones, that is not measured; in [0, 0.9], default 0.1. */
  readonly warmUpRatio?: number | undefined;
  /** Leaf calls of each root request, which waits for all of them; a whole number in [1, 10,000], default 1. */
  readonly leaves?: number | undefined;
  /** A cause shared by all leaves of a root: with that probability each of them takes this much longer. Default none. */
  readonly shock?: { readonly share: number; readonly law: Law } | undefined;
  /** Clients, each of which knows only its own attempts; a whole number in [1, 10,000], default 1. */
  readonly clients?: number | undefined;
  /** One way, drawn for each message; default none: messages take no time. */
  readonly network?: Law | undefined;
  /** What a cancel achieves: nothing, a copy that waits leaves its queue (default), a copy in service too. */
  readonly cancel?: "none" | "queued" | "running" | undefined;
  /** Hedges and retries are served after primaries; needs `priorities` of 2 or more at the servers. Default false. */
  readonly extrasLast?: boolean | undefined;
  /** Whether calls may be hedged and retried; default true. */
  readonly idempotent?: boolean | undefined;
  /** Balancers see the servers' own counts, of that age, in place of what they count themselves. Default none. */
  readonly reports?: ReportOptions | undefined;
  /** Work in the background of every server. */
  readonly chores?: ChoreOptions | undefined;
  /** Time-weighted counts of requests at servers, and what arrivals see; default false, since it costs time. */
  readonly occupancy?: boolean | undefined;
}

export interface RequestClass {
  readonly name: string;
  /** The shares sum to 1. */
  readonly share: number;
  readonly size: Law;
  /** 0 is served first; a whole number in [0, 15], default 0. */
  readonly priority?: number | undefined;
}

/** One simulated server, or several alike. */
export interface ServerOptions {
  /** So many servers like this; a whole number in [1, 10,000], default 1. */
  readonly count?: number | undefined;
  /** What clients believe of it: its share of traffic relative to the others. Above 0, default 1; its capacity is not touched. */
  readonly weight?: number | undefined;
  /** Clients take it for several servers behind one address, so that further copies may go there; default false. */
  readonly virtual?: boolean | undefined;
  /** Jobs in service at one time; a whole number >= 1, default 1, or no limit and so no queue. */
  readonly workers?: number | "unlimited" | undefined;
  /** Multiplies every size that it serves; above 0, default 1. 5 is five times slower. */
  readonly slowdown?: number | undefined;
  /** Added to a copy's time here, whatever its size: interference of this server alone. Default none. */
  readonly interference?: Law | undefined;
  /** Share of copies that get the interference; in [0, 1], default 1. */
  readonly interferenceRatio?: number | undefined;
  /** A copy that waited this long is answered with an error without using a worker; ms above 0, default never. */
  readonly queueTimeoutMs?: number | undefined;
  /** Copies that may wait, more are refused at once; a whole number >= 0, default no limit. */
  readonly maxQueued?: number | undefined;
  /** Classes of urgency; a whole number in [1, 16], default 1. */
  readonly priorities?: number | undefined;
  /** Share of copies that fail without using a worker; in [0, 1], default 0. */
  readonly failRatio?: number | undefined;
  /** How soon they do, and how soon a server that is down refuses; ms >= 0, default 1. */
  readonly failAfterMs?: number | undefined;
  readonly faults?: readonly Fault[] | undefined;
}

/** For a while a server stands still, is slower, or is gone: what it holds is lost and what comes is refused. */
export interface Fault {
  readonly kind: "pause" | "slow" | "crash";
  /** ms >= 0. */
  readonly atMs: number;
  /** ms above 0. */
  readonly forMs: number;
  /** Again and again at this interval, longer than `forMs`; default once. */
  readonly everyMs?: number | undefined;
  /** How many times slower, above 0; for `slow` alone, default 10. */
  readonly factor?: number | undefined;
}

export interface ChoreOptions {
  /** Each server does its chores once in this time; ms above `forMs`. */
  readonly everyMs: number;
  /** ms above 0. */
  readonly forMs: number;
  /** How many times slower meanwhile; above 0; default: it stands still. */
  readonly factor?: number | undefined;
  /**
   * `aligned`: all servers at one moment. `scattered`: each at a moment of its own.
   * `staggered`: the replicas of a shard one after the other, each at the same moment as its like in other shards.
   */
  readonly placement: "aligned" | "scattered" | "staggered";
}

export interface ReportOptions {
  /** Counts are taken at multiples of this; ms >= 0; 0: always fresh. */
  readonly everyMs: number;
}

/** When root requests come. Rates are per second, all clients together. */
export type Arrivals =
  /** At random: exponential gaps. `load` in place of a rate: that share of the fleet's capacity. */
  | { readonly kind: "poisson"; readonly ratePerSecond: number }
  | { readonly kind: "poisson"; readonly load: number }
  /** Evenly spaced. */
  | { readonly kind: "uniform"; readonly ratePerSecond: number }
  | { readonly kind: "uniform"; readonly load: number }
  /** Poisson in bursts: a rate for a while, then another, over and over. */
  | {
      readonly kind: "on-off";
      readonly onPerSecond: number;
      readonly onMs: number;
      readonly offPerSecond: number;
      readonly offMs: number;
    }
  /** Poisson with a rate that moves from one value to another, and stays there. */
  | {
      readonly kind: "ramp";
      readonly fromPerSecond: number;
      readonly toPerSecond: number;
      readonly overMs: number;
    }
  /** Poisson with one rate after another, over and over. */
  | {
      readonly kind: "steps";
      readonly steps: readonly { readonly ratePerSecond: number; readonly forMs: number }[];
    }
  /** Recorded times, not falling, and optionally the size of each request. It ends with the trace. */
  | {
      readonly kind: "trace";
      readonly atMs: readonly number[];
      readonly sizeMs?: readonly number[] | undefined;
    };
