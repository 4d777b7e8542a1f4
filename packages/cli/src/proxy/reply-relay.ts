import type { Leg } from "./engine.ts";
import { readReplyHead } from "./reply-head.ts";
import type { ReplyWriter } from "./reply-writer.ts";

/**
 * Which leg's reply the client gets. One that failed with a real answer is held back unread, in case
 * nothing better comes; one that is being served is watched for stalls.
 */
export class ReplyRelay {
  readonly writer: ReplyWriter;
  serving: Leg | undefined;
  /** When to look whether the reply has stalled; Infinity: nothing is being served. */
  idleWakeMs: number;
  private held: Leg | undefined;
  private readonly bodyIdleMs: number;
  private lastDataMs: number;

  constructor(writer: ReplyWriter, bodyIdleMs: number) {
    this.writer = writer;
    this.serving = undefined;
    this.idleWakeMs = Number.POSITIVE_INFINITY;
    this.held = undefined;
    this.bodyIdleMs = bodyIdleMs;
    this.lastDataMs = 0;
  }

  /** False: it is coded in a way that the client could not read. */
  serve(leg: Leg, nowMs: number): boolean {
    this.releaseHeld();
    this.serving = leg;
    this.lastDataMs = nowMs;
    this.idleWakeMs = nowMs + this.bodyIdleMs;
    const head = readReplyHead(leg.headers, leg.status);
    if (head.isCoded) return false;
    this.writer.head(leg.status, leg.message, head);
    return true;
  }

  /** False: no more before `drained`. */
  data(chunk: Buffer, nowMs: number): boolean {
    this.lastDataMs = nowMs;
    return this.writer.data(chunk);
  }

  drained(nowMs: number): void {
    this.writer.isBlocked = false;
    this.lastDataMs = nowMs;
    this.serving?.resume();
  }

  /** The last real answer replaces the one before it. */
  hold(leg: Leg): void {
    this.releaseHeld();
    this.held = leg;
  }

  /** Takes the answer that was held; undefined: there is none, or it has broken off meanwhile. */
  takeHeld(): Leg | undefined {
    const { held } = this;
    this.held = undefined;
    return held;
  }

  isHeld(leg: Leg): boolean {
    return leg === this.held;
  }

  /**
   * Whether the reply has to be given up: nothing came for too long while the client could take more, or
   * `endMs` has passed. If not, sets when to look again.
   */
  isStalled(nowMs: number, endMs: number): boolean {
    if (this.serving === undefined) {
      this.idleWakeMs = Number.POSITIVE_INFINITY;
      return false;
    }
    const dueMs = (this.writer.isBlocked ? nowMs : this.lastDataMs) + this.bodyIdleMs;
    this.idleWakeMs = Math.min(dueMs, endMs);
    return nowMs >= this.idleWakeMs;
  }

  /** The request is over, however it ended. */
  release(): void {
    this.idleWakeMs = Number.POSITIVE_INFINITY;
    this.releaseHeld();
    if (this.serving?.ended === false) this.serving.drop();
  }

  private releaseHeld(): void {
    const { held } = this;
    this.held = undefined;
    held?.drop();
  }
}
