import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Inbound, InboundEvents } from "./engine.ts";
import type { Peer } from "./peer.ts";
import { closeSoon } from "./taken-socket.ts";
import { joinTunnel } from "./tunnel.ts";

/** What a request must know of where it came in. */
export interface ListenerState {
  readonly tunnelIdleMs: number;
  /** A connection on which nothing moves is closed after that long. */
  readonly idleMs: number;
  /** Nothing new is accepted: every answer is the last on its connection. */
  readonly isStopping: boolean;
}

/** More are left out: nothing slows down an endpoint that sends them to a client that does not read. */
const MAX_HINTS = 16;

/** A request of `node:http`. */
export class NodeInbound implements Inbound {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly peer: Peer;
  readonly isHttp10: boolean;
  /** Set before anything can be reported. */
  events: InboundEvents | undefined;
  private hints: number;
  private isWaiting: boolean;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly listener: ListenerState;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    peer: Peer,
    listener: ListenerState,
  ) {
    this.method = request.method ?? "GET";
    this.target = request.url ?? "";
    this.rawHeaders = request.rawHeaders;
    this.peer = peer;
    this.isHttp10 = request.httpVersionMinor === 0;
    this.events = undefined;
    this.hints = 0;
    this.isWaiting = false;
    this.request = request;
    this.response = response;
    this.listener = listener;
  }

  readBody(): void {
    const { request } = this;
    request.on("data", (chunk: Buffer) => this.events?.bodyChunk(chunk));
    request.on("end", () => this.events?.bodyEnd());
    // A client that leaves in the middle is reported by its connection.
    request.on("error", ignore);
  }

  pauseBody(): void {
    this.request.pause();
  }

  resumeBody(): void {
    this.request.resume();
  }

  inform(status: number, headers: readonly string[]): void {
    if (++this.hints > MAX_HINTS) return;
    try {
      if (status === 102) this.response.writeProcessing();
      else if (status === 103) this.response.writeEarlyHints(grouped(headers));
    } catch {
      // A hint that Node will not write is only a hint.
    }
  }

  head(status: number, message: string, headers: string[]): void {
    if (this.listener.isStopping) this.response.shouldKeepAlive = false;
    // A word for people: one that cannot be written is left out.
    if (message === "" || !WRITABLE.test(message)) this.response.writeHead(status, headers);
    else this.response.writeHead(status, message, headers);
  }

  flush(): void {
    this.response.flushHeaders();
  }

  write(chunk: Buffer): boolean {
    if (this.response.write(chunk)) return true;
    this.awaitDrain();
    return false;
  }

  end(chunk: Buffer | undefined, trailers: readonly string[] | undefined): void {
    if (trailers !== undefined) this.response.addTrailers(pairs(trailers));
    const { response, peer } = this;
    response.end(chunk);
    const { socket } = response;
    // Most answers are taken by the system at once.
    if (socket === null || socket.writableLength > 0) this.watchRest();
    if (peer.isLeaving) response.once("finish", () => this.leave());
  }

  destroy(): void {
    this.response.destroy();
  }

  tunnel(headers: readonly string[], upstream: Duplex, closed: () => void): void {
    let head = "HTTP/1.1 101 Switching Protocols\r\n";
    for (let i = 0; i + 1 < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    const { socket } = this.request;
    this.peer.unwatch?.();
    this.response.detachSocket(socket);
    socket.write(`${head}\r\n`, "latin1");
    joinTunnel(socket, upstream, { idleMs: this.listener.tunnelIdleMs, closed });
  }

  /**
   * Of several answers on one connection Node tells the first that it may go on whenever a later one is added
   * to; obeying would fill memory, so what waits is looked at, and if need be the connection is asked.
   */
  private awaitDrain(): void {
    // On a connection that was taken over it is not Node that tells, and this one listener goes on waiting.
    if (this.isWaiting) return;
    this.isWaiting = true;
    const { response, request } = this;
    const go = (): void => {
      this.isWaiting = false;
      this.events?.drained();
    };
    response.once("drain", () => {
      if (response.writableLength < response.writableHighWaterMark) go();
      else request.socket.once("drain", go);
    });
  }

  /** A client that does not take the rest of its answer keeps its connection no longer than an idle one. */
  private watchRest(): void {
    const { response, request, peer, listener } = this;
    response.setTimeout(listener.idleMs);
    response.once("finish", () => {
      // The next answer on this connection may be long in coming.
      if (peer.running.size > 0) request.socket.setTimeout(0);
    });
  }

  /** Answers that wait behind this one are on their way by then. */
  private leave(): void {
    if (this.peer.running.size === 0) closeSoon(this.request.socket);
  }
}

/** Source: RFC 9112, section 4 (reason-phrase). */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

function ignore(): void {}

function grouped(headers: readonly string[]): Record<string, string | string[]> {
  const group: Record<string, string[]> = {};
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    group[name] = [...(group[name] ?? []), headers[i + 1] as string];
  }
  return group;
}

function pairs(flat: readonly string[]): [string, string][] {
  const list: [string, string][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2)
    list.push([flat[i] as string, flat[i + 1] as string]);
  return list;
}
