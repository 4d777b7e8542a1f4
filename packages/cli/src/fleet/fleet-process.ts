/** The child process that the fleet runs in: driven over IPC, gone as soon as its parent is. */
import { Histogram } from "bobtail/engine";
import { type BackendServer, createBackendServer } from "./backend-server.ts";
import type { FleetAnswer, FleetQuestion, FleetReply, FleetRequest } from "./fleet-messages.ts";
import type { FleetSetup } from "./fleet-options.ts";

let servers: readonly BackendServer[] = [];
let lag = new Histogram();

async function start(setup: FleetSetup): Promise<FleetReply> {
  setTimeout(() => process.exit(0), setup.lifetimeMs).unref();
  servers = setup.backends.map((_, index) =>
    createBackendServer(setup, index, (lagMs) => lag.record(Math.round(lagMs * 1_000))),
  );
  const ports = await Promise.all(servers.map((server) => server.listen()));
  return { kind: "started", ports };
}

function stats(): FleetReply {
  const { user, system } = process.cpuUsage();
  return {
    kind: "stats",
    stats: {
      backends: servers.map((server) => server.counts()),
      replyLagP99Ms: lag.count === 0 ? undefined : lag.quantile(0.99) / 1_000,
      cpuMs: (user + system) / 1_000,
    },
  };
}

function stop(): FleetReply {
  for (const server of servers) server.close();
  if (process.connected) process.disconnect();
  return { kind: "done" };
}

async function handle(request: FleetRequest): Promise<FleetReply> {
  switch (request.kind) {
    case "start":
      return start(request.setup);
    case "stats":
      return stats();
    case "control":
      await servers[request.index]?.control(request.fault);
      return { kind: "done" };
    case "reset": {
      const resets = servers.map((server) => server.reset());
      lag = new Histogram();
      await Promise.all(resets);
      return { kind: "done" };
    }
    case "stop":
      return stop();
  }
}

function send(id: number, reply: FleetReply): void {
  // The parent may be gone already: then `disconnect` ends this process, and there is nobody to tell.
  process.send?.({ id, reply } satisfies FleetAnswer, undefined, undefined, () => {});
}

process.on("message", ({ id, request }: FleetQuestion) => {
  handle(request).then(
    (reply) => send(id, reply),
    (error: unknown) => send(id, { kind: "failed", message: String(error) }),
  );
});
// Ctrl-C and a stop of the service reach the whole process group: the parent decides when to end, and
// its partial report needs the fleet.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("disconnect", () => process.exit(0));
