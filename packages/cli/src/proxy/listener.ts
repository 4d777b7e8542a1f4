import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { BoundAddress, ClientLimits, ProxyConfig } from "./config.ts";
import type { FailureReason } from "./failure-reply.ts";
import { type ListenerState, NodeInbound } from "./node-inbound.ts";
import { Peer, plainAddress } from "./peer.ts";
import { takeSocket } from "./taken-socket.ts";

/** How long a connection that has said nothing may stay after the listener has stopped. */
const SILENT_MS = 1_000;
const LONGEST_TIMER_MS = 2_147_483_647;

/** What a listener asks of the proxy behind it. */
export interface ListenerHost {
  isTrusted(address: string): boolean;
  /** `upgrade`: the request wants another protocol, and there is no body to read. */
  accept(inbound: NodeInbound, isUpgrade: boolean): void;
  /** A request that is answered without being looked at. */
  refuse(inbound: NodeInbound, reason: FailureReason): void;
  /** A connection was refused because there are too many. */
  dropped(): void;
}

/** The accepting side on `node:http`: its parser is strict, and every limit on a slow client is set. */
export class Listener implements ListenerState {
  readonly host: string;
  readonly port: number;
  /** Connections that are open. */
  readonly peers: Map<Socket, Peer>;
  readonly tunnelIdleMs: number;
  readonly idleMs: number;
  isStopping: boolean;
  private readonly server: Server;
  private readonly owner: ListenerHost;

  constructor(address: BoundAddress, limits: ClientLimits, owner: ListenerHost) {
    this.host = address.host;
    this.port = address.port;
    this.peers = new Map();
    this.owner = owner;
    this.isStopping = false;
    this.tunnelIdleMs = limits.tunnelIdleMs ?? 3_600_000;
    this.idleMs = Math.min(limits.idleMs ?? 60_000, LONGEST_TIMER_MS);
    const headersMs = limits.headersMs ?? 10_000;
    this.server = createServer({
      insecureHTTPParser: false,
      requireHostHeader: false,
      maxHeaderSize: limits.headerBytes ?? 16_384,
      headersTimeout: headersMs,
      requestTimeout: Math.max(headersMs, limits.requestMs ?? 300_000),
      keepAliveTimeout: this.idleMs,
      connectionsCheckingInterval: Math.min(5_000, Math.max(50, Math.ceil(headersMs / 4))),
    });
    // Node would drop the headers beyond its limit without a word; the proxy counts and refuses.
    this.server.maxHeadersCount = 0;
    this.server.maxConnections = limits.connections ?? 10_000;
    this.server.on("connection", (socket: Socket) => this.connected(socket));
    this.server.on("drop", () => owner.dropped());
    this.server.on("request", (request, response) => this.requested(request, response));
    this.server.on("upgrade", (request: IncomingMessage, _socket, head: Buffer) => {
      const inbound = this.taken(request, head);
      if (inbound !== undefined) owner.accept(inbound, true);
    });
    this.server.on("connect", (request: IncomingMessage, _socket, head: Buffer) => {
      const inbound = this.taken(request, head);
      if (inbound !== undefined) owner.refuse(inbound, "connect");
    });
  }

  /** Rejects when the address cannot be had. */
  async listen(): Promise<BoundAddress> {
    const { server } = this;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.port, this.host, 1024, () => {
        server.off("error", reject);
        resolve();
      });
    });
    const { address, port } = server.address() as AddressInfo;
    return { host: address, port };
  }

  /** Accepts nothing new; resolves when the last connection is closed. Idle ones are closed at once. */
  stop(): Promise<void> {
    this.isStopping = true;
    const { server } = this;
    const silent = setTimeout(() => this.closeSilent(), SILENT_MS);
    silent.unref();
    return new Promise((resolve) => {
      // The close of an HTTP server ends the watch over slow clients, and those that are left need it.
      NetServer.prototype.close.call(server, () => {
        clearTimeout(silent);
        server.close();
        resolve();
      });
      server.closeIdleConnections();
    });
  }

  /** Node does not count a connection as idle before its first request. */
  private closeSilent(): void {
    for (const socket of this.peers.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  closeConnections(): void {
    for (const socket of this.peers.keys()) socket.destroy();
  }

  private connected(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress);
    const peer = new Peer(address, this.owner.isTrusted(address));
    this.peers.set(socket, peer);
    socket.once("close", () => {
      this.peers.delete(socket);
      for (const exchange of [...peer.running]) exchange.gone();
    });
  }

  private requested(request: IncomingMessage, response: ServerResponse): void {
    const peer = this.peers.get(request.socket);
    // Closed between its last byte and this event.
    if (peer === undefined) return;
    this.owner.accept(new NodeInbound(request, response, peer, this), false);
  }

  /** Node hands over the connection; what is not a switch after all is answered once, and the connection closed. */
  private taken(request: IncomingMessage, head: Buffer): NodeInbound | undefined {
    const peer = this.peers.get(request.socket);
    if (peer === undefined) return undefined;
    const response = takeSocket(request, head, peer);
    return response && new NodeInbound(request, response, peer, this);
  }
}

/** Listeners are the same through a reload when host, port and place among equals are. */
export function keysOf({ listeners }: Pick<ProxyConfig, "listeners">): string[] {
  const seen = new Map<string, number>();
  return listeners.map(({ host, port }) => {
    const key = `${host}:${port}`;
    const count = seen.get(key) ?? 0;
    seen.set(key, count + 1);
    return `${key}#${count}`;
  });
}
