import { nth } from "../core/assert.ts";
import type { Rng } from "../core/rng.ts";
import { DrawnAhead } from "./drawn-ahead.ts";
import { compileLaw, type Draw, meanOf } from "./law.ts";
import type { WorldSetup } from "./scenario.ts";

/** A class of requests, compiled. */
export interface Kind {
  readonly name: string;
  readonly share: number;
  readonly size: Draw;
  readonly priority: number;
}

/** Draws what comes: the class of each request and the sizes of its leaves. A stream of its own, so every policy meets the same requests. */
export class RequestSource {
  readonly kinds: readonly Kind[];
  /** The size of a copy of any request, for copies that draw anew. */
  readonly anyKind: Draw;
  /** Of all classes together, shocks included. */
  readonly meanMs: number;
  private readonly rng: Rng;
  private readonly shock: Draw | undefined;
  private readonly shockShare: number;
  private readonly trace: readonly number[] | undefined;
  private size: Draw;
  private shockMs: number;
  private traced: number | undefined;
  /** The sizes where nothing else is drawn: one class, no shock, no trace. */
  private readonly plain: DrawnAhead | undefined;

  constructor(setup: WorldSetup, rng: Rng) {
    const { size = { kind: "constant", valueMs: 1 }, shock, arrivals } = setup;
    const classes = setup.classes ?? [{ name: "request", share: 1, size }];
    const parts = classes.map(({ share, size: law }) => ({ share, law }));
    this.kinds = classes.map(({ name, share, size: law, priority = 0 }) => ({
      name,
      share,
      size: compileLaw(law),
      priority,
    }));
    this.anyKind =
      this.kinds.length === 1 ? nth(this.kinds, 0).size : compileLaw({ kind: "mixture", parts });
    this.rng = rng;
    this.shock = shock === undefined ? undefined : compileLaw(shock.law);
    this.shockShare = shock?.share ?? 0;
    this.trace = arrivals.kind === "trace" ? arrivals.sizeMs : undefined;
    const traceMs = this.trace?.reduce((sum, ms) => sum + ms, 0) ?? 0;
    this.meanMs =
      (this.trace === undefined
        ? meanOf({ kind: "mixture", parts })
        : traceMs / this.trace.length) +
      (shock === undefined ? 0 : shock.share * meanOf(shock.law));
    this.size = nth(this.kinds, 0).size;
    this.shockMs = 0;
    this.traced = undefined;
    const isPlain = this.kinds.length === 1 && shock === undefined && this.trace === undefined;
    this.plain = isPlain ? new DrawnAhead(() => this.size(rng)) : undefined;
  }

  /** The next root request: the index of its class. */
  begin(number: number): number {
    return this.plain === undefined ? this.beginMixed(number) : 0;
  }

  /** The size of its next leaf. */
  sizeMs(): number {
    return this.plain === undefined ? this.mixedSizeMs() : this.plain.next();
  }

  private beginMixed(number: number): number {
    const at = this.kindAt();
    this.size = nth(this.kinds, at).size;
    this.traced = this.trace?.[number];
    if (this.shock !== undefined)
      this.shockMs = this.rng.next() < this.shockShare ? this.shock(this.rng) : 0;
    return at;
  }

  private mixedSizeMs(): number {
    return (this.traced ?? this.size(this.rng)) + this.shockMs;
  }

  private kindAt(): number {
    const { kinds } = this;
    if (kinds.length === 1) return 0;
    let u = this.rng.next();
    for (let i = 0; i < kinds.length - 1; i++) {
      u -= nth(kinds, i).share;
      if (u < 0) return i;
    }
    return kinds.length - 1;
  }
}
