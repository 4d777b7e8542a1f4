import { parseGrpcTimeout, parseMilliseconds } from "./deadline-header.ts";
import { type HeaderRole, hasToken, nominated, roleOf } from "./header-table.ts";
import type { Peer } from "./peer.ts";

/** Why a request is not passed on. */
export type RequestFault = "ambiguous_length" | "host" | "unsupported_transfer_encoding";

/**
 * What a proxy needs to know of a request's headers, and the headers it passes on: hop-by-hop ones
 * removed, forwarding ones written, names and values in turn, the last slots left for each attempt to fill.
 */
export class RequestHead {
  readonly headers: (string | undefined)[] = [];
  /** In origin form, the query included. */
  path: string = "/";
  host: string = "";
  /** -1: chunked; 0: no body. */
  bodyLength: number = 0;
  /** A protocol the client asks to switch to, in lower case; empty: none. */
  upgrade: string = "";
  hasIdempotencyKey: boolean = false;
  isNoHedge: boolean = false;
  /** As sent by a trusted peer: what is left, in ms; Infinity: nothing was said. */
  deadlineMs: number = Number.POSITIVE_INFINITY;
  /** The header that carried it, which is sent on too when it is not ours. */
  deadlineDialect: "grpc-timeout" | "x-envoy-expected-rq-timeout-ms" | undefined = undefined;
  fault: RequestFault | undefined = undefined;

  private connection: string = "";
  private via: string = "";
  private forwarded: string = "";
  private forwardedFor: string = "";
  /** A trusted peer has told what the user asked for. */
  private hasProto: boolean = false;
  private hasHost: boolean = false;
  private hosts: number = 0;
  private lengths: number = 0;
  private chunked: boolean = false;
  private deadlineRank: number = 3;

  /**
   * One pass over the headers as received.
   *
   * @param authority - stands in for the Host header when the request target carried one.
   * @param isTls - how the client reached us, for `Forwarded`.
   */
  read(raw: readonly string[], peer: Peer, authority: string | undefined, isTls: boolean): void {
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = raw[i] as string;
      const role = roleOf(name);
      if (role === "pass") this.headers.push(name, raw[i + 1]);
      else this.readKnown(name, raw[i + 1] as string, role, peer.isTrusted);
    }
    if (authority !== undefined) this.host = authority;
    if (this.hosts > 1 || (this.hosts === 0 && authority === undefined)) this.fault = "host";
    else if (!isHost(this.host)) this.fault = "host";
    if (this.chunked) {
      // Two ways to tell where a body ends are how requests are smuggled.
      if (this.lengths > 0) this.fault = "ambiguous_length";
      this.bodyLength = -1;
    }
    if (this.connection === "" || isPlain(this.connection)) this.upgrade = "";
    else this.applyConnection();
    this.headers.push("host", this.host);
    this.writeForwarding(peer, isTls);
  }

  private readKnown(name: string, value: string, role: HeaderRole, isTrusted: boolean): void {
    switch (role) {
      case "host":
        this.host = value;
        this.hosts++;
        return;
      case "content-length":
        this.bodyLength = Number(value);
        if (++this.lengths > 1 || !/^\d{1,15}$/.test(value)) this.fault = "ambiguous_length";
        return;
      case "transfer-encoding":
        if (this.chunked || value.trim().toLowerCase() !== "chunked")
          this.fault = "unsupported_transfer_encoding";
        this.chunked = true;
        return;
      case "connection":
        this.connection = join(this.connection, value);
        return;
      case "upgrade":
        this.upgrade = value.trim().toLowerCase();
        return;
      case "hop-by-hop":
      case "expect":
        return;
      case "bobtail":
        if (isTrusted) this.readBobtail(name.toLowerCase(), value);
        return;
      case "grpc-timeout":
        if (isTrusted && this.readDeadline(parseGrpcTimeout(value), 0))
          this.deadlineDialect = "grpc-timeout";
        return;
      case "envoy-timeout":
        if (isTrusted && this.readDeadline(parseMilliseconds(value), 2))
          this.deadlineDialect = "x-envoy-expected-rq-timeout-ms";
        return;
      case "forwarded":
        if (isTrusted) this.forwarded = join(this.forwarded, value);
        return;
      case "x-forwarded-for":
        if (isTrusted) this.forwardedFor = join(this.forwardedFor, value);
        return;
      case "x-forwarded":
        if (isTrusted) this.readForwarded(name.toLowerCase(), value);
        return;
      case "via":
        this.via = join(this.via, value);
        return;
      case "idempotency-key":
        this.hasIdempotencyKey = true;
        this.headers.push(name, value);
        return;
      default:
        this.headers.push(name, value);
    }
  }

  private readForwarded(name: string, value: string): void {
    if (name === "x-forwarded-proto") this.hasProto = true;
    else this.hasHost = true;
    this.headers.push(name, value);
  }

  private readBobtail(name: string, value: string): void {
    if (name === "bobtail-no-hedge") this.isNoHedge = value.trim() !== "0";
    else if (name === "bobtail-deadline-ms" && this.readDeadline(parseMilliseconds(value), 1))
      this.deadlineDialect = undefined;
  }

  /** The first dialect in the order grpc-timeout, ours, Envoy's is the one that counts. */
  private readDeadline(ms: number | undefined, rank: number): boolean {
    if (ms === undefined || rank >= this.deadlineRank) return false;
    this.deadlineRank = rank;
    this.deadlineMs = ms;
    return true;
  }

  private applyConnection(): void {
    if (!hasToken(this.connection, "upgrade")) this.upgrade = "";
    const names = nominated(this.connection);
    if (names === undefined) return;
    const { headers } = this;
    let kept = 0;
    for (let i = 0; i < headers.length; i += 2) {
      if (names.has((headers[i] as string).toLowerCase())) continue;
      headers[kept] = headers[i];
      headers[kept + 1] = headers[i + 1];
      kept += 2;
    }
    headers.length = kept;
  }

  private writeForwarding(peer: Peer, isTls: boolean): void {
    const { headers } = this;
    const proto = isTls ? "https" : "http";
    const node = peer.forwardedNode(this.host, proto);
    headers.push(
      "via",
      this.via === "" ? "1.1 bobtail" : `${this.via}, 1.1 bobtail`,
      "forwarded",
      this.forwarded === "" ? node : `${this.forwarded}, ${node}`,
      "x-forwarded-for",
      this.forwardedFor === "" ? peer.address : `${this.forwardedFor}, ${peer.address}`,
    );
    // What the first trusted hop saw is what the user asked for.
    if (!this.hasProto) headers.push("x-forwarded-proto", proto);
    if (!this.hasHost) headers.push("x-forwarded-host", this.host);
  }
}

const HOST = /^(?:[\w\-.~!$&'()*+,;=%]*|\[[\da-fA-F:.]+\])(?::\d*)?$/;
let lastHost = "";

/** Nothing that could be read as a path, a user or a second header. Source: RFC 3986, section 3.2.2 (host). */
function isHost(host: string): boolean {
  // Most requests ask for the same one.
  if (host === lastHost) return true;
  if (!HOST.test(host)) return false;
  lastHost = host;
  return true;
}

/** The two usual values name nothing. */
function isPlain(connection: string): boolean {
  return connection === "keep-alive" || connection === "close";
}

function join(before: string, value: string): string {
  return before === "" ? value : `${before}, ${value}`;
}

/** Safe to run twice by its method alone. Source: RFC 9110, section 9.2.1 (safe methods). */
export function isSafeMethod(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
