import type { Inbound } from "./engine.ts";
import type { OwnReply } from "./failure-reply.ts";
import type { ReplyHead } from "./reply-head.ts";

/**
 * Passes one reply to the client. The head and the first piece of the body are held back for one turn of the
 * event loop, because most replies are whole by then and go out in a single write with their length.
 */
export class ReplyWriter {
  private readonly inbound: Inbound;
  private readonly isHead: boolean;
  /** Nothing yet, known but not written, on its way, over. */
  state: "none" | "held" | "sent" | "over";
  status: number;
  bytes: number;
  /** The client takes no more for now. */
  isBlocked: boolean;
  private message: string;
  private headers: string[];
  private bodyLength: number;
  private held: Buffer | undefined;
  /** The connection ends after this answer. */
  isLast: boolean;

  constructor(inbound: Inbound) {
    this.inbound = inbound;
    this.isHead = inbound.method === "HEAD";
    this.state = "none";
    this.status = 0;
    this.bytes = 0;
    this.isBlocked = false;
    this.message = "";
    this.headers = NO_HEADERS;
    this.bodyLength = -1;
    this.held = undefined;
    this.isLast = false;
  }

  head(status: number, message: string, head: ReplyHead): void {
    this.state = "held";
    this.status = status;
    this.message = message;
    this.headers = head.headers;
    this.bodyLength = head.bodyLength;
    flushSoon(this);
  }

  /** False: no more before the client has drained. */
  data(chunk: Buffer): boolean {
    if (this.state === "held") {
      if (this.held === undefined) {
        this.held = chunk;
        return true;
      }
      this.flush();
    }
    return this.write(chunk);
  }

  /** What was held back goes out now. */
  flush(): void {
    if (this.state !== "held" || !this.writeHead()) return;
    const { held } = this;
    this.held = undefined;
    if (held === undefined) this.inbound.flush();
    else this.write(held);
  }

  end(trailers: readonly string[] | undefined): void {
    if (this.state === "held") {
      const { held } = this;
      this.held = undefined;
      // The whole reply is here: its length is known, whatever way it came.
      const told = this.bodyLength >= 0 || trailers !== undefined || this.isHead;
      if (!told && hasBody(this.status))
        this.headers.push("content-length", String(held?.length ?? 0));
      if (!this.writeHead()) return;
      if (held !== undefined) this.bytes += held.length;
      this.state = "over";
      this.inbound.end(held, trailers);
    } else if (this.state === "sent") {
      this.state = "over";
      this.inbound.end(undefined, trailers);
    }
  }

  /** An answer of our own, in one write. False when another is on its way already. */
  reply(reply: OwnReply): boolean {
    const { status, headers, body } = reply;
    if (this.state !== "none" && this.state !== "held") return false;
    this.held = undefined;
    this.status = status;
    this.message = "";
    this.headers = headers;
    this.bodyLength = body.length;
    if (!this.writeHead()) return true;
    this.bytes = this.isHead ? 0 : body.length;
    this.state = "over";
    this.inbound.end(this.isHead ? undefined : body, undefined);
    return true;
  }

  /** The rest will not come: the client must see that. */
  breakOff(): void {
    if (this.state === "over") return;
    this.state = "over";
    this.held = undefined;
    this.inbound.destroy();
  }

  /** The client has left, or its connection is someone else's now. */
  abandon(): void {
    this.state = "over";
    this.held = undefined;
  }

  private write(chunk: Buffer): boolean {
    if (this.state !== "sent") return true;
    this.bytes += chunk.length;
    if (this.inbound.write(chunk)) return true;
    this.isBlocked = true;
    return false;
  }

  /** False when the endpoint's headers cannot be written: the connection is broken off. */
  private writeHead(): boolean {
    if (this.isLast) this.headers.push("connection", "close");
    try {
      this.inbound.head(this.status, this.message, this.headers);
      this.state = "sent";
      return true;
    } catch {
      this.breakOff();
      return false;
    }
  }
}

const NO_HEADERS: string[] = [];

/** Source: RFC 9110, section 8.6: no length on 204; 304 tells that of another answer. */
function hasBody(status: number): boolean {
  return status !== 204 && status !== 304;
}

const waiting: ReplyWriter[] = [];
let isScheduled = false;

/** One immediate serves every reply that began in this turn. */
function flushSoon(writer: ReplyWriter): void {
  waiting.push(writer);
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(flushWaiting);
}

function flushWaiting(): void {
  isScheduled = false;
  for (const writer of waiting) writer.flush();
  waiting.length = 0;
}
