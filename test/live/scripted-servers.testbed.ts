import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Scenario } from "../../packages/bobtail/src/sim.ts";
import type { SteppedTime } from "./stepped-time.testbed.ts";

type ServerOptions = Scenario["servers"][number];

interface Exchange {
  readonly response: ServerResponse;
  /** Takes back what it would answer. */
  cancel: () => void;
}

/**
 * HTTP servers on the loopback that do what the simulator's servers would: a request of size s is answered after
 * s x slowdown; in a crash what runs is lost, and what comes is refused a little later. They go by stepped time.
 */
export class ScriptedServers {
  readonly urls: URL[] = [];
  /** Requests that came, that were answered, and that their client has left. */
  received = 0;
  answered = 0;
  left = 0;
  private readonly time: SteppedTime;
  private readonly sizesMs: readonly number[];
  private readonly servers: Server[] = [];

  /** @param sizesMs - of request `/i`. */
  constructor(time: SteppedTime, sizesMs: readonly number[]) {
    this.time = time;
    this.sizesMs = sizesMs;
  }

  async start(scripts: readonly ServerOptions[]): Promise<void> {
    for (const script of scripts) {
      const server = this.open(script);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      this.servers.push(server);
      this.urls.push(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      this.servers.map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  private open({ slowdown = 1, failAfterMs = 1, faults = [] }: ServerOptions): Server {
    const { time } = this;
    const active: Exchange[] = [];
    let down = false;
    for (const fault of faults) {
      time.at(fault.atMs, () => {
        down = true;
        this.lose(active);
      });
      time.at(fault.atMs + fault.forMs, () => {
        down = false;
      });
    }
    return createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      this.received++;
      const exchange: Exchange = { response, cancel: () => {} };
      const afterMs = down ? failAfterMs : slowdown * this.sizeMs(request.url);
      const status = down ? 503 : 200;
      if (!down) active.push(exchange);
      exchange.cancel = time.at(time.nowMs() + afterMs, () => {
        if (status === 200) take(active, exchange);
        this.answer(exchange, status);
      });
      response.on("close", () => {
        if (response.writableEnded) return;
        this.left++;
        exchange.cancel();
        if (status === 200) take(active, exchange);
      });
    });
  }

  /** One after the other, so that the client has seen the first when the second comes. */
  private lose(active: Exchange[]): void {
    const lost = active.splice(0);
    for (const exchange of lost) exchange.cancel();
    for (const exchange of lost) this.time.at(this.time.nowMs(), () => this.answer(exchange, 503));
  }

  private answer({ response }: Exchange, status: number): void {
    // Its client has left meanwhile.
    if (response.destroyed) return;
    this.answered++;
    response.writeHead(status, { "content-length": "2" });
    response.end("ok");
  }

  private sizeMs(path: string | undefined): number {
    const sizeMs = this.sizesMs[Number(path?.slice(1))];
    if (sizeMs === undefined) throw new Error(`no request ${path}`);
    return sizeMs;
  }
}

/** In the order in which the simulator keeps what is in service, which a crash shows. */
function take(active: Exchange[], exchange: Exchange): void {
  const index = active.indexOf(exchange);
  if (index === -1) return;
  const last = active.pop() as Exchange;
  if (last !== exchange) active[index] = last;
}
