import { Readable } from "node:stream";
import type { Inbound } from "./engine.ts";
import type { OutboundHead } from "./outbound-head.ts";

/**
 * A request's body: kept whole when it is small, so that every attempt sends the same bytes, and streamed
 * through once when it is not. `begin`, `add` and `end` say when the call may start.
 */
export class RequestBody {
  /** It can be sent again. */
  isReplayable: boolean;
  private readonly inbound: Inbound;
  private readonly request: OutboundHead;
  /** As the client told it; -1: chunked. */
  private readonly length: number;
  private readonly keepBytes: number;
  private chunks: Buffer[];
  private size: number;
  private feed: BodyFeed | undefined;

  constructor(
    inbound: Inbound,
    request: OutboundHead,
    limits: { readonly length: number; readonly keepBytes: number },
  ) {
    this.isReplayable = true;
    this.inbound = inbound;
    this.request = request;
    this.length = limits.length;
    this.keepBytes = limits.keepBytes;
    this.chunks = [];
    this.size = 0;
    this.feed = undefined;
  }

  /** True: it is known to be too long to keep. */
  begin(): boolean {
    this.inbound.readBody();
    if (this.length <= this.keepBytes) return false;
    this.stream();
    return true;
  }

  /** True: it has just become too long to keep. */
  add(chunk: Buffer): boolean {
    if (this.feed !== undefined) {
      // Nobody reads a destroyed feed any more, but the client's bytes must go somewhere.
      if (!this.feed.destroyed && !this.feed.push(chunk)) this.inbound.pauseBody();
      return false;
    }
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size <= this.keepBytes) return false;
    this.stream();
    return true;
  }

  /** True: it was kept, and is whole. */
  end(): boolean {
    if (this.feed !== undefined) {
      if (!this.feed.destroyed) this.feed.push(null);
      return false;
    }
    const [only] = this.chunks;
    const whole =
      this.chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.chunks);
    this.chunks = [];
    this.request.body = this.size === 0 ? null : whole;
    return true;
  }

  /** No attempt will send it any more. */
  release(): void {
    this.chunks = [];
    this.request.body = null;
    if (this.feed?.destroyed === false) this.feed.destroy();
  }

  private stream(): void {
    this.isReplayable = false;
    this.feed = new BodyFeed(this.inbound);
    for (const chunk of this.chunks) this.feed.push(chunk);
    this.chunks = [];
    this.request.stream(this.feed, this.length);
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
