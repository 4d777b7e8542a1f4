import { ChunkedBody } from "./chunked-body.ts";
import { type ResponseHead, readHead } from "./response-head.ts";

/** A head, with whatever interim answers precede it, is never longer. */
const MAX_HEAD_BYTES = 65_536;
const MAX_INTERIM = 64;
const END_OF_HEAD: Buffer = Buffer.from("\r\n\r\n");
const [LF, CR] = [10, 13] as const;
const START = "HTTP/1.";

export interface ResponseSink {
  /** Of the final answer. */
  onHead(status: number): void;
  /** Lent bytes. */
  onBody(bytes: Uint8Array): void;
  /** The answer is whole. `keepAliveMs` is 0 where the connection cannot be used again. */
  onEnd(keepAliveMs: number): void;
}

type State = "idle" | "head" | "length" | "chunked" | "close";

/**
 * HTTP/1.1 answers from bytes, one at a time (RFC 9112). What it holds of an answer is bounded: a head of 64 KiB, and of
 * a body nothing.
 */
export class ResponseParser {
  private readonly sink: ResponseSink;
  private state: State;
  private isHead: boolean;
  /** The beginning of a head that came in pieces. */
  private early: Buffer | undefined;
  private interim: number;
  private leftBytes: number;
  private readonly chunks: ChunkedBody;
  private keepAliveMs: number;

  constructor(sink: ResponseSink) {
    this.sink = sink;
    this.state = "idle";
    this.isHead = false;
    this.early = undefined;
    this.interim = 0;
    this.leftBytes = 0;
    this.chunks = new ChunkedBody((bytes) => sink.onBody(bytes));
    this.keepAliveMs = 0;
  }

  /** An answer is due. `isHead`: to a HEAD request, so that it has no body whatever its head says. */
  expect(isHead: boolean): void {
    this.state = "head";
    this.isHead = isHead;
    this.early = undefined;
    this.interim = 0;
  }

  /** @returns what is wrong with them in a few words; nothing more can be read then. */
  read(bytes: Buffer): string | undefined {
    let at = 0;
    while (at < bytes.length) {
      const next = this.step(at === 0 ? bytes : bytes.subarray(at));
      if (typeof next === "string") return next;
      at += next;
    }
    return undefined;
  }

  /** The server has closed its side. @returns what is wrong with that, if an answer was due. */
  end(): string | undefined {
    switch (this.state) {
      case "close":
        this.finish(0);
        return undefined;
      case "idle":
        return undefined;
      case "head":
        return this.early === undefined ? "closed without an answer" : "cut short";
      default:
        return "cut short";
    }
  }

  /** @returns how many bytes it used, at least one, or the reason. */
  private step(bytes: Buffer): number | string {
    switch (this.state) {
      case "idle":
        return "bytes beyond the answer";
      case "head":
        return this.readHead(bytes);
      case "length": {
        const body = bytes.length <= this.leftBytes ? bytes : bytes.subarray(0, this.leftBytes);
        this.leftBytes -= body.length;
        this.sink.onBody(body);
        if (this.leftBytes === 0) this.finish(this.keepAliveMs);
        return body.length;
      }
      case "chunked": {
        const used = this.chunks.read(bytes);
        if (typeof used !== "string" && this.chunks.isWhole) this.finish(this.keepAliveMs);
        return used;
      }
      case "close":
        this.sink.onBody(bytes);
        return bytes.length;
    }
  }

  private readHead(bytes: Buffer): number | string {
    const before = this.early?.length ?? 0;
    const whole = this.early === undefined ? bytes : Buffer.concat([this.early, bytes]);
    const end = whole.indexOf(END_OF_HEAD, Math.max(0, before - 3));
    if (end < 0) return this.keepEarly(whole, before) ?? bytes.length;
    const length = end + END_OF_HEAD.length;
    if (length > MAX_HEAD_BYTES) return "a head of over 64 KiB";
    const head = readHead(whole, 0, length);
    if (typeof head === "string") return head;
    this.early = undefined;
    const problem = this.begin(head);
    return problem ?? length - before;
  }

  /** A head that is not there yet: what can be seen to be none is refused at once. */
  private keepEarly(whole: Buffer, before: number): string | undefined {
    const start = whole.toString("latin1", 0, START.length);
    if (!START.startsWith(start)) return "no HTTP/1 status line";
    if (whole.length > MAX_HEAD_BYTES) return "a head of over 64 KiB";
    for (let at = whole.indexOf(LF, before); at >= 0; at = whole.indexOf(LF, at + 1))
      if (whole[at - 1] !== CR) return "a line that ends without a carriage return";
    // The bytes are lent, unless they were joined above.
    this.early = before === 0 ? Buffer.from(whole) : whole;
    return undefined;
  }

  private begin(head: ResponseHead): string | undefined {
    const { status, framing } = head;
    if (status === 101) return "a protocol that nobody asked for";
    if (status < 200) {
      if (++this.interim > MAX_INTERIM) return "too many interim answers";
      return undefined;
    }
    const hasBody = !this.isHead && status !== 204 && status !== 304;
    this.keepAliveMs = head.keepAlive ? head.keepAliveMs : 0;
    this.sink.onHead(status);
    if (!hasBody || (framing === "length" && head.lengthBytes === 0)) {
      this.finish(this.keepAliveMs);
      return undefined;
    }
    this.state = framing;
    this.leftBytes = head.lengthBytes;
    if (framing === "chunked") this.chunks.reset();
    return undefined;
  }

  private finish(keepAliveMs: number): void {
    this.state = "idle";
    this.sink.onEnd(keepAliveMs);
  }
}
