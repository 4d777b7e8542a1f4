import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import type { ServiceOptions } from "../../packages/bobtail/src/index.ts";
import type {
  ProxyConfig,
  RunningProxy,
  ServiceConfig,
} from "../../packages/cli/src/proxy/config.ts";
import { startProxy } from "../../packages/cli/src/proxy/start-proxy.ts";

/** A backend that counts. */
export interface Backend {
  readonly url: string;
  readonly port: number;
  /** Requests whose headers have arrived, and the bodies of those that were read. */
  readonly requests: IncomingMessage[];
  readonly bodies: Buffer[];
  /** Connections ever opened / requests whose connection the client closed before the answer. */
  connections: number;
  cancelled: number;
  readonly server: Server;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** What a test has started; `close` ends all of it. */
export class Testbed {
  private readonly endings: (() => Promise<void>)[] = [];

  /** `eager`: the handler runs at the request's headers, with an empty body. */
  async backend(handler: Handler, eager = false): Promise<Backend> {
    const server = createServer((request, response) => {
      backend.requests.push(request);
      response.on("close", () => {
        if (!response.writableEnded) backend.cancelled++;
      });
      request.on("error", () => {});
      if (eager) {
        handler(request, response, Buffer.alloc(0));
        return;
      }
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks);
        backend.bodies.push(body);
        handler(request, response, body);
      });
    });
    const sockets = new Set<Socket>();
    server.on("connection", (socket) => {
      backend.connections++;
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const backend: Backend = {
      url: `http://127.0.0.1:${port}`,
      port,
      requests: [],
      bodies: [],
      connections: 0,
      cancelled: 0,
      server,
    };
    this.endings.push(async () => {
      // Also those that were upgraded, which are no longer the server's.
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    return backend;
  }

  /** A server that speaks bytes. */
  async rawBackend(
    talk: (socket: Socket, nth: number) => void,
  ): Promise<{ url: string; port: number }> {
    let count = 0;
    const sockets = new Set<Socket>();
    const server = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
      talk(socket, ++count);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    this.endings.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    return { url: `http://127.0.0.1:${port}`, port };
  }

  /** An address at which nothing listens. */
  async deadUrl(): Promise<string> {
    const server = createTcpServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return `http://127.0.0.1:${port}`;
  }

  async proxy(config: ProxyConfig): Promise<TestProxy> {
    const proxy = new TestProxy(await startProxy(config));
    this.endings.push(() => proxy.running.close());
    return proxy;
  }

  /** A proxy for one service named `s`. Round robin, so that who gets the first attempt is known. */
  service(
    endpoints: readonly (string | ServiceConfig["endpoints"][number])[],
    options: ServiceOptions = {},
    more: Partial<ProxyConfig> & { readonly commit?: ServiceConfig["commit"] } = {},
  ): Promise<TestProxy> {
    const { commit, ...config } = more;
    return this.proxy({
      listeners: [{ host: "127.0.0.1", port: 0, service: "s" }],
      admin: { host: "127.0.0.1", port: 0 },
      services: {
        s: {
          endpoints: endpoints.map((e) => (typeof e === "string" ? { url: e } : e)),
          options,
          commit,
        },
      },
      ...config,
    });
  }

  async close(): Promise<void> {
    for (const end of this.endings.splice(0).reverse()) await end();
  }
}

export class TestProxy {
  readonly running: RunningProxy;

  constructor(running: RunningProxy) {
    this.running = running;
  }

  get port(): number {
    return this.running.addresses[0]?.port ?? 0;
  }

  get stats(): ReturnType<RunningProxy["stats"]>["services"][string] {
    const stats = this.running.stats().services.s;
    if (stats === undefined) throw new Error("no service s");
    return stats;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return ask(this.port, { path, headers });
  }

  async metrics(): Promise<string> {
    const answer = await ask(this.running.adminAddress?.port ?? 0, { path: "/metrics" });
    return answer.body.toString();
  }

  /** Every count of what is under way. */
  outstanding(): number[] {
    const { running, services } = this.running.stats();
    return [
      running,
      ...Object.values(services).flatMap((s) => [
        s.running,
        s.pending,
        ...s.endpoints.flatMap((e) => [e.outstanding, e.waiting]),
      ]),
    ];
  }

  async idle(): Promise<void> {
    await until(() => this.outstanding().every((count) => count === 0));
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly trailers: IncomingMessage["trailers"];
}

export interface Ask {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
  /** Sent chunked, in these pieces. */
  readonly pieces?: readonly Buffer[];
}

/** One request on a connection of its own. Rejects when the answer breaks off. */
export function ask(port: number, what: Ask = {}): Promise<Answer> {
  const { path = "/", method = "GET", headers = {}, body, pieces } = what;
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, path, method, headers, agent: false });
    request.on("error", reject);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
          body: Buffer.concat(chunks),
          trailers: response.trailers,
        }),
      );
    });
    for (const piece of pieces ?? []) request.write(piece);
    request.end(body);
  });
}

/** Everything the server says to these bytes until it closes the connection. */
export function talk(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let heard = "";
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(heard));
    socket.write(bytes);
  });
}

export async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Resolves when `release` is called: a server that answers when the test says so. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
