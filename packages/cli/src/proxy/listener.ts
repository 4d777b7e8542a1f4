import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { BoundAddress, ClientLimits, ProxyConfig } from "./config.ts";
import { type ListenerState, NodeInbound } from "./node-inbound.ts";
import { Peer, plainAddress } from "./peer.ts";

/** What a listener asks of the proxy behind it. */
export interface ListenerHost {
  isTrusted(address: string): boolean;
  /** `upgrade`: the request wants another protocol, and there is no body to read. */
  accept(inbound: NodeInbound, isUpgrade: boolean): void;
  /** A connection was refused because there are too many. */
  dropped(): void;
}

/** The accepting side on `node:http`: its parser is strict, and every limit on a slow client is set. */
export class Listener implements ListenerState {
  readonly host: string;
  readonly port: number;
  /** Connections that are open. */
  readonly peers: Map<Duplex, Peer>;
  readonly tunnelIdleMs: number;
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
    const headersMs = limits.headersMs ?? 10_000;
    this.server = createServer({
      insecureHTTPParser: false,
      requireHostHeader: false,
      maxHeaderSize: limits.headerBytes ?? 16_384,
      headersTimeout: headersMs,
      requestTimeout: Math.max(headersMs, limits.requestMs ?? 300_000),
      keepAliveTimeout: limits.idleMs ?? 60_000,
      connectionsCheckingInterval: Math.min(5_000, Math.max(50, Math.ceil(headersMs / 4))),
    });
    // Node would drop the headers beyond its limit without a word; the proxy counts and refuses.
    this.server.maxHeadersCount = 0;
    this.server.maxConnections = limits.connections ?? 10_000;
    this.server.on("connection", (socket: Socket) => this.connected(socket));
    this.server.on("drop", () => owner.dropped());
    this.server.on("request", (request, response) => this.requested(request, response));
    this.server.on("upgrade", (request, socket, head) => this.upgraded(request, socket, head));
    this.server.on("connect", (_request, socket: Duplex) => refuseTunnel(socket));
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
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeIdleConnections();
    });
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
  private upgraded(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const peer = this.peers.get(socket);
    if (peer === undefined) return;
    socket.on("error", () => socket.destroy());
    if (head.length > 0) socket.unshift(head);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once("finish", () => {
      response.detachSocket(socket as Socket);
      socket.end();
    });
    this.owner.accept(new NodeInbound(request, response, peer, this), true);
  }
}

function refuseTunnel(socket: Duplex): void {
  socket.on("error", () => socket.destroy());
  const body = '{"error":"not_implemented","reason":"connect"}\n';
  socket.end(
    `HTTP/1.1 501 Not Implemented\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
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
