import type { Attempt } from "../policies/attempt.ts";
import type { Call } from "../policies/call.ts";
import type { CallObserver } from "../policies/observer.ts";
import type { SkipReason } from "../policies/stats.ts";

/**
 * A number for everything that was decided: each pick, hedge, refusal, win, cancel and settle, in order, with times
 * rounded to whole microseconds (the last bits of `Math.log` differ between engines). Equal seeds give equal digests.
 */
export class DecisionDigest implements CallObserver {
  private low: number;
  private high: number;
  private readonly codes: Map<string, number>;

  constructor() {
    this.low = 0x811c9dc5;
    this.high = 0x9747b28c;
    this.codes = new Map();
  }

  /** 16 hexadecimal digits. */
  get value(): string {
    return hex(this.high) + hex(this.low);
  }

  launched(a: Attempt, nowMs: number): void {
    this.add(a.kind === "primary" ? 1 : a.kind === "hedge" ? 2 : 3, a.endpoint.name, nowMs);
  }

  committed(a: Attempt, nowMs: number): void {
    this.add(4, a.endpoint.name, nowMs);
  }

  ended(a: Attempt, nowMs: number): void {
    // A win was told when it committed.
    if (a.outcome !== "win") this.add(5, a.outcome ?? "", nowMs);
  }

  skipped(_call: Call, reason: SkipReason, nowMs: number): void {
    this.add(6, reason, nowMs);
  }

  settled(call: Call, nowMs: number): void {
    this.add(7, call.failure ?? "", nowMs);
  }

  private add(event: number, word: string, nowMs: number): void {
    let code = this.codes.get(word);
    if (code === undefined) {
      code = hashOf(word);
      this.codes.set(word, code);
    }
    const us = Math.round(nowMs * 1000);
    this.low = mixed(this.low ^ code ^ (us % 4294967296), event);
    this.high = mixed(this.high ^ this.low, 0x5bd1e995 ^ Math.floor(us / 4294967296));
  }
}

/** Murmur3's round. */
function mixed(state: number, value: number): number {
  let h = Math.imul(state ^ Math.imul(value, 0xcc9e2d51), 0x1b873593);
  h = (h << 13) | (h >>> 19);
  return (Math.imul(h, 5) + 0xe6546b64) | 0;
}

function hashOf(word: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) h = Math.imul(h ^ word.charCodeAt(i), 0x01000193);
  return h;
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
