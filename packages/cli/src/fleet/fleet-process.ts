/** The child process that the fleet runs in: driven over IPC, gone as soon as its parent is. */
import { Histogram } from "bobtail/engine";
import { type BackendServer, createBackendServer } from "./backend-server.ts";
import type { FleetReply, FleetRequest, FleetSetup, FleetStats } from "./fleet-options.ts";

let servers: readonly BackendServer[] = [];
let lag = new Histogram();

function send(reply: FleetReply): void {
  // The parent may be gone already: then `disconnect` ends this process, and there is nobody to tell.
  process.send?.(reply, undefined, undefined, () => {});
}

async function start(setup: FleetSetup): Promise<void> {
  setTimeout(() => process.exit(0), setup.lifetimeMs).unref();
  servers = setup.backends.map((_, index) =>
    createBackendServer(setup, index, (lagMs) => lag.record(Math.round(lagMs * 1_000))),
  );
  const ports = await Promise.all(servers.map((server) => server.listen()));
  send({ kind: "started", ports });
}

function stats(): FleetStats {
  const { user, system } = process.cpuUsage();
  return {
    backends: servers.map((server) => server.counts()),
    replyLagP99Ms: lag.count === 0 ? undefined : lag.quantile(0.99) / 1_000,
    cpuMs: (user + system) / 1_000,
  };
}

function stop(): void {
  for (const server of servers) server.close();
  if (process.connected) process.disconnect();
}

process.on("message", (request: FleetRequest) => {
  switch (request.kind) {
    case "start":
      start(request.setup).catch((error: unknown) => {
        send({ kind: "failed", message: String(error) });
      });
      break;
    case "stats":
      send({ kind: "stats", stats: stats() });
      break;
    case "reset":
      for (const server of servers) server.reset();
      lag = new Histogram();
      send({ kind: "reset" });
      break;
    case "stop":
      stop();
      break;
  }
});
// Ctrl-C and a stop of the service reach the whole process group: the parent decides when to end, and
// its partial report needs the fleet.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("disconnect", () => process.exit(0));
