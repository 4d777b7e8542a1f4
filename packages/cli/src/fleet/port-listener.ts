import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";

const HOST = "127.0.0.1";
/** More connections than this are closed at once: above every limit that a client of the fleet has. */
const MAX_CONNECTIONS = 8_192;
const BACKLOG = 1_024;

/** An HTTP server on a port that stays its own while it does not listen. */
export class PortListener {
  private readonly handle: RequestListener;
  private readonly sockets: Set<Socket>;
  private server: Server | undefined;
  private reservation: readonly Socket[];
  private port: number;

  /** @param port - default: a free one. */
  constructor(handle: RequestListener, port: number = 0) {
    this.handle = handle;
    this.sockets = new Set();
    this.server = undefined;
    this.reservation = [];
    this.port = port;
  }

  get isOpen(): boolean {
    return this.server !== undefined;
  }

  /** Listens: always on the same port. */
  async open(): Promise<number> {
    this.endReservation();
    const server = createServer(this.handle);
    // A backend that closes idle connections would make its clients meet stale ones.
    server.keepAliveTimeout = 0;
    server.headersTimeout = 0;
    server.requestTimeout = 0;
    server.maxConnections = MAX_CONNECTIONS;
    server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      // Also heard after the start: accepting may fail for want of descriptors, which its clients notice.
      server.on("error", reject);
      server.listen({ port: this.port, host: HOST, backlog: BACKLOG }, resolve);
    });
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
    return this.port;
  }

  /** As a process that dies: nothing listens any more and every connection is reset. No other program gets the port. */
  async drop(): Promise<void> {
    if (this.server === undefined) return;
    this.shut();
    this.reservation = await reserve(this.port);
  }

  close(): void {
    this.shut();
    this.endReservation();
  }

  private shut(): void {
    this.server?.close();
    this.server = undefined;
    for (const socket of this.sockets) socket.resetAndDestroy();
    this.sockets.clear();
  }

  private endReservation(): void {
    for (const socket of this.reservation) socket.resetAndDestroy();
    this.reservation = [];
  }
}

/**
 * Holds a port without listening on it, as the local end of a connection: whoever connects is refused, and the
 * system gives the port to nobody else. Empty where that fails; then the port is merely likely to stay free.
 */
function reserve(port: number): Promise<readonly Socket[]> {
  return new Promise((resolve) => {
    const server = createTcpServer();
    server.on("error", () => resolve([]));
    server.listen({ port: 0, host: HOST }, () => {
      const peer = (server.address() as AddressInfo).port;
      const near = connect({ host: HOST, port: peer, localAddress: HOST, localPort: port });
      near.on("error", () => {
        server.close();
        resolve([]);
      });
      server.once("connection", (far) => {
        far.on("error", () => {});
        server.close();
        resolve([near, far]);
      });
    });
  });
}
