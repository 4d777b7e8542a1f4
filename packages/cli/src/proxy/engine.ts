import type { Duplex, Readable } from "node:stream";
import type { Attempt } from "bobtail/engine";
import type { Peer } from "./peer.ts";

/**
 * The two sides of the data path. An engine accepts requests (`Inbound`) and performs attempts (`Leg`);
 * everything between them, and every decision, knows only these. A faster engine replaces both sides.
 */

/** One request of a client, and the way to answer it. */
export interface Inbound {
  readonly method: string;
  /** As it stood on the request line. */
  readonly target: string;
  /** Names and values in turn, as received. */
  readonly rawHeaders: readonly string[];
  readonly peer: Peer;
  /** Bodies and trailers cannot be chunked for this client. */
  readonly isHttp10: boolean;
  /** From now on the body arrives at the events. Called at most once. */
  readBody(): void;
  pauseBody(): void;
  resumeBody(): void;
  /** An informational answer (1xx), before the head. */
  inform(status: number, headers: readonly string[]): void;
  /** Throws when a header cannot be written. Goes out with the first piece of the body, or at `flush`. */
  head(status: number, message: string, headers: string[]): void;
  flush(): void;
  /** False: wait for `drained`. */
  write(chunk: Buffer): boolean;
  end(chunk: Buffer | undefined, trailers: readonly string[] | undefined): void;
  /** Breaks the connection, so that the client sees that the answer is not whole. */
  destroy(): void;
  /** Answers 101 and lets both sides talk until one has gone, or neither has said anything for a while. */
  tunnel(headers: readonly string[], upstream: Duplex, closed: () => void): void;
}

/** What a request reports while it is being served. */
export interface InboundEvents {
  bodyChunk(chunk: Buffer): void;
  bodyEnd(): void;
  /** The client can take more. */
  drained(): void;
  /** The client has left; nothing can be written any more. */
  gone(): void;
}

/** What an attempt sends. Read once, before `Leg.start` returns or soon after. */
export interface OutboundRequest {
  method: string;
  path: string;
  /** Names and values in turn; an undefined value leaves the header out. */
  headers: (string | undefined)[];
  body: Buffer | Readable | null;
  /** A protocol to switch to; null for an ordinary request. */
  upgrade: string | null;
}

/** One attempt under way. */
export interface Leg {
  readonly attempt: Attempt;
  status: number;
  message: string;
  /** Names and values in turn, as the endpoint sent them. */
  headers: readonly Buffer[];
  /** The head of the reply has arrived / the whole reply has. */
  answered: boolean;
  ended: boolean;
  /** Bytes of the reply's body so far. */
  bytes: number;
  start(): void;
  /** More of the body is wanted, after `legHead` or `legData` said false. */
  resume(): void;
  /** Not wanted any more: closed before its answer; after it, read to the end if that costs little. Silent from now on. */
  drop(): void;
}

/** What an attempt reports. Never after `drop`. */
export interface LegEvents {
  /** The request as this attempt sends it. */
  requestOf(leg: Leg): OutboundRequest;
  legInformed(leg: Leg, status: number, headers: readonly Buffer[]): void;
  /** False: no body before `resume`. */
  legHead(leg: Leg): boolean;
  /** False: no more before `resume`. */
  legData(leg: Leg, chunk: Buffer): boolean;
  legEnd(leg: Leg, trailers: readonly Buffer[]): void;
  legFailed(leg: Leg, failure: LegFailure): void;
  legUpgraded(leg: Leg, socket: Duplex): void;
}

/**
 * `connect`: no byte was sent. `reset`: the connection broke. `refused`: our own side could not place it
 * (a full or closing pool). `invalid`: the request cannot be sent to anyone.
 */
export interface LegFailure {
  readonly kind: "connect" | "reset" | "refused" | "invalid";
  /** A short code for logs: `ECONNREFUSED`, `UND_ERR_SOCKET`. */
  readonly code: string;
}

/** Sends the attempts of one endpoint. */
export interface Outbound {
  leg(attempt: Attempt, events: LegEvents): Leg;
  /** Refuses new attempts; resolves when the running ones have ended by themselves. */
  close(): Promise<void>;
  /** Ends everything now. */
  destroy(): Promise<void>;
}
