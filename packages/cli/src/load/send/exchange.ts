import { printable } from "../../terminal/printable.ts";
import type { PlannedTarget } from "../planned-target.ts";

/** Where an exchange is: in line for a connection, or on one. */
export interface Carrier {
  /** It hears nothing more. What it was carried by may have to be closed for it. */
  cancel(exchange: Exchange): void;
}

/**
 * One request and its answer, as a transport tells it. First `onWritten`, then `onHead`, then `onBody` any number of
 * times, then `onEnd`; in place of any of them `onFailure`, after which, as after `onEnd`, there is nothing more.
 */
export interface Exchange {
  /** The transport's own. */
  carrier: Carrier | undefined;
  /** It is about to be handed to the kernel. */
  onWritten(): void;
  /** Of the final answer: those before it (1xx) are not told. */
  onHead(status: number): void;
  /** The bytes are lent: they are overwritten afterwards. */
  onBody(bytes: Uint8Array): void;
  onEnd(): void;
  /** A system code such as `ECONNRESET`, or a few words. */
  onFailure(kind: string): void;
}

/** Sends requests over connections that it keeps. */
export interface Transport {
  /** `target` is one of those it was made for. It may be answered before this returns. */
  send(target: PlannedTarget, exchange: Exchange): void;
  /** Closes every connection at once; exchanges under way hear nothing more. */
  close(): void;
}

export interface TransportSetup {
  readonly targets: readonly PlannedTarget[];
  /** To each host, open at once. */
  readonly connections: number;
  /** By host name, the addresses to connect to; a name without an entry is resolved. */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
  readonly tls: { readonly ca?: string | undefined; readonly insecure?: boolean | undefined };
  /** A connection that has not opened by then is given up, so that another can take its place; ms up to 2^31 - 1. */
  readonly openTimeoutMs: number;
  /** Called for each new connection, with what it took: name, TCP and TLS. */
  onConnect(tookMs: number): void;
}

/** A few words for whatever a socket failed with. */
export function failureKind(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return code ?? printable(error.message).slice(0, 60);
}
