import type { Attempt } from "../policies/attempt.ts";
import type { Call } from "../policies/call.ts";
import type { CallObserver } from "../policies/observer.ts";
import type { SkipReason } from "../policies/stats.ts";

const DEFAULT_MAX_COUNT = 100_000;

/**
 * What was decided, in words and in order: `pick 3`, `hedge 5`, `retry 1`, `skip budget`, `win 5`, `superseded 3`,
 * `settle ok`. Without times, so that a run in the simulator can be compared with one on real sockets.
 *
 * @param names - the endpoints in order; they are told by their place, since a simulated one has another address.
 */
export class DecisionLog implements CallObserver {
  readonly entries: string[];
  /** Decisions after the first `maxCount` are counted, not kept. */
  dropped: number;
  private readonly names: readonly string[];
  private readonly maxCount: number;

  constructor(names: readonly string[], maxCount: number = DEFAULT_MAX_COUNT) {
    this.entries = [];
    this.dropped = 0;
    this.names = names;
    this.maxCount = maxCount;
  }

  launched(a: Attempt): void {
    this.add(a.kind === "primary" ? "pick" : a.kind, this.placeOf(a));
  }

  committed(a: Attempt): void {
    this.add("win", this.placeOf(a));
  }

  ended(a: Attempt): void {
    if (a.outcome !== "win") this.add(a.outcome ?? "ended", this.placeOf(a));
  }

  skipped(_call: Call, reason: SkipReason): void {
    this.add("skip", reason);
  }

  settled(call: Call): void {
    this.add("settle", call.failure ?? "ok");
  }

  private placeOf(a: Attempt): string {
    return String(this.names.indexOf(a.endpoint.name));
  }

  private add(what: string, of: string): void {
    if (this.entries.length < this.maxCount) this.entries.push(`${what} ${of}`);
    else this.dropped++;
  }
}
