/** How a service sees one address: its identity, its exact counts and what has been learnt about it. */
export interface EndpointOptions {
  /** The address as configured, or a name of the user's; the key by which state survives an update. */
  readonly name: string;
  /** Share of traffic relative to the others; above 0, default 1. */
  readonly weight?: number | undefined;
  /** One address that stands for several servers (a VIP, an object store); default false. */
  readonly virtual?: boolean | undefined;
}

/**
 * One address. The counts are exact after every exit and belong to the call machine;
 * the learnt signals belong to the balancer. Plain fields: the pick reads them in nanoseconds.
 */
export class Endpoint {
  readonly name: string;
  weight: number;
  virtual: boolean;
  /** False once an update has removed it: running attempts end, new ones go elsewhere. */
  listed: boolean;

  /** Attempts picked and not yet ended. */
  outstanding: number;
  /** Sum of the costs of the outstanding attempts. */
  work: number;
  /** Outstanding attempts that have not been answered yet. */
  waiting: number;
  /** Sum of the start times of the waiting attempts: their mean age is `now - sum / waiting`. */
  waitingSinceSumMs: number;

  /** Peak EWMA of the time to the answer, in ms, as of `latencyAtMs`; negative while unmeasured. */
  latencyMs: number;
  latencyAtMs: number;
  /** EWMA of races lost to another copy, in [0, 1), as of `latencyAtMs`. */
  lostShareRatio: number;
  /** EWMA of failures, in [0, 1), as of `errorAtMs`. */
  errorShareRatio: number;
  errorAtMs: number;
  /** Smooth-weighted turn for round robin. */
  turn: number;

  /** Attempts ever sent here, and what became of them. */
  picks: number;
  wins: number;
  failures: number;
  superseded: number;
  /** Milliseconds of attempts whose answer nobody used. */
  wastedMs: number;

  /** The transport's connection pool or the simulator's server. */
  host: unknown;

  constructor(options: EndpointOptions) {
    this.name = options.name;
    this.weight = options.weight ?? 1;
    this.virtual = options.virtual ?? false;
    this.listed = true;
    this.outstanding = 0;
    this.work = 0;
    this.waiting = 0;
    this.waitingSinceSumMs = 0;
    this.latencyMs = -1;
    this.latencyAtMs = 0;
    this.lostShareRatio = 0;
    this.errorShareRatio = 0;
    this.errorAtMs = 0;
    this.turn = 0;
    this.picks = 0;
    this.wins = 0;
    this.failures = 0;
    this.superseded = 0;
    this.wastedMs = 0;
    this.host = undefined;
  }
}
