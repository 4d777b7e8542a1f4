import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Address, BoundAddress, ProxyStats } from "./config.ts";

export interface AdminSource {
  readonly isDraining: boolean;
  metrics(): string;
  stats(): ProxyStats;
}

const TEXT = "text/plain; charset=utf-8";

/** The operators' address: reads only, and nothing is ever passed on from here. */
export class Admin {
  private readonly server: Server;
  private readonly source: AdminSource;

  constructor(source: AdminSource) {
    this.source = source;
    this.server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 });
    this.server.maxConnections = 256;
    // Who does not read its answer gives the place to others.
    this.server.timeout = 10_000;
    this.server.on("request", (request, response) => {
      const { status, type, body } = this.answer(request.method ?? "", request.url ?? "");
      response.writeHead(status, {
        "content-type": type,
        "content-length": Buffer.byteLength(body),
        "cache-control": "no-store",
        ...(status === 405 && { allow: "GET, HEAD" }),
      });
      response.end(request.method === "HEAD" ? undefined : body);
    });
  }

  /** Rejects when the address cannot be had. */
  async listen(address: Address): Promise<BoundAddress> {
    const { server } = this;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(address.port, address.host, () => {
        server.off("error", reject);
        resolve();
      });
    });
    const bound = server.address() as AddressInfo;
    return { host: bound.address, port: bound.port };
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private answer(method: string, url: string): { status: number; type: string; body: string } {
    if (method !== "GET" && method !== "HEAD")
      return { status: 405, type: TEXT, body: "only GET\n" };
    const at = url.indexOf("?");
    switch (at < 0 ? url : url.slice(0, at)) {
      case "/healthz":
        return { status: 200, type: TEXT, body: "ok\n" };
      case "/readyz":
        return this.source.isDraining
          ? { status: 503, type: TEXT, body: "draining\n" }
          : { status: 200, type: TEXT, body: "ready\n" };
      case "/metrics":
        return {
          status: 200,
          type: "text/plain; version=0.0.4; charset=utf-8",
          body: this.source.metrics(),
        };
      case "/stats":
        return {
          status: 200,
          type: "application/json",
          body: `${JSON.stringify(this.source.stats(), null, 2)}\n`,
        };
      default:
        return { status: 404, type: TEXT, body: "/healthz /readyz /metrics /stats\n" };
    }
  }
}
