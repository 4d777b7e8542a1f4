import { Readable } from "node:stream";
import type { Inbound } from "./engine.ts";

/**
 * A request's body: kept whole when it is small, so that every attempt sends the same bytes, and streamed
 * through once when it is not.
 */
export class RequestBody {
  /** As the client told it; -1: chunked. */
  readonly length: number;
  private readonly inbound: Inbound;
  private readonly keepBytes: number;
  private chunks: Buffer[];
  private size: number;
  private feed: BodyFeed | undefined;
  private isOver: boolean;

  constructor(inbound: Inbound, length: number, keepBytes: number) {
    this.length = length;
    this.inbound = inbound;
    this.keepBytes = keepBytes;
    this.chunks = [];
    this.size = 0;
    this.feed = undefined;
    this.isOver = false;
  }

  /** True while the whole body may still turn out small enough to be kept. */
  get isCollecting(): boolean {
    return this.feed === undefined && !this.isOver;
  }

  /** Too long to keep: from now on it streams. */
  stream(): Readable {
    if (this.feed === undefined) {
      this.feed = new BodyFeed(this.inbound);
      for (const chunk of this.chunks) this.feed.push(chunk);
      this.chunks = [];
      if (this.isOver) this.feed.push(null);
    }
    return this.feed;
  }

  /** The whole body, once it is over and kept. */
  whole(): Buffer | null {
    if (this.size === 0) return null;
    const [only] = this.chunks;
    const whole =
      this.chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.chunks);
    this.chunks = [whole];
    return whole;
  }

  /** Takes the next piece; true when the body has just become too long to keep. */
  add(chunk: Buffer): boolean {
    if (this.feed !== undefined) {
      // Nobody reads a destroyed feed any more, but the client's bytes must go somewhere.
      if (!this.feed.destroyed && !this.feed.push(chunk)) this.inbound.pauseBody();
      return false;
    }
    this.chunks.push(chunk);
    this.size += chunk.length;
    return this.size > this.keepBytes;
  }

  end(): void {
    this.isOver = true;
    if (this.feed !== undefined && !this.feed.destroyed) this.feed.push(null);
  }

  /** No attempt will send it any more. */
  release(): void {
    this.chunks = [];
    if (this.feed === undefined || this.feed.destroyed) return;
    this.feed.destroy();
  }
}

/** A stream that takes from the client what the endpoint can take. */
class BodyFeed extends Readable {
  private readonly inbound: Inbound;

  constructor(inbound: Inbound) {
    super({ highWaterMark: 65_536 });
    this.inbound = inbound;
    // Whoever reads it reports why it stopped; the stream's own word is not needed.
    this.on("error", ignore);
  }

  override _read(): void {
    this.inbound.resumeBody();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // Read on and forget, so that the client can be answered.
    this.inbound.resumeBody();
    done(error);
  }
}

function ignore(): void {}
