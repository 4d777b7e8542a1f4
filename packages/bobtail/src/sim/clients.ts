import { nth } from "../core/assert.ts";
import type { Rng } from "../core/rng.ts";
import { CallMachine } from "../policies/call-machine.ts";
import type { LatencyClass } from "../policies/hedger.ts";
import type { CallObserver } from "../policies/observer.ts";
import type { Port } from "../policies/port.ts";
import { createService, type Service } from "../policies/service.ts";
import { type LoadBoard, ReportedBalancer } from "./load-reports.ts";
import type { Kind } from "./request-source.ts";
import type { WorldOptions } from "./scenario.ts";
import type { SimServer } from "./server.ts";
import { replicasOf } from "./servers.ts";

/** One client: a service for each shard, as `createService` builds it anywhere. */
export interface Client {
  readonly services: readonly Service[];
  /** By shard and by kind of request. */
  readonly classes: readonly (readonly LatencyClass[])[];
}

export interface ClientSetup {
  readonly options: WorldOptions;
  readonly kinds: readonly Kind[];
  readonly servers: readonly SimServer[];
  readonly board: LoadBoard | undefined;
  readonly port: Port;
  readonly observer: CallObserver | undefined;
  readonly rng: Rng;
}

export function createClients(setup: ClientSetup): Client[] {
  const { options, kinds, servers, rng } = setup;
  const shards = options.shards ?? 1;
  const perShard = servers.length / shards;
  return Array.from({ length: options.clients ?? 1 }, (_, client) => {
    const services = Array.from({ length: shards }, (_unused, shard) => {
      const members = servers.slice(shard * perShard, (shard + 1) * perShard);
      return openService(setup, members, rng.split(`client ${client} shard ${shard}`));
    });
    const classes = services.map((service) =>
      kinds.map((kind) => service.hedger.classOf(kind.name)),
    );
    return { services, classes };
  });
}

function openService(setup: ClientSetup, members: readonly SimServer[], rng: Rng): Service {
  const { options, board, port, observer } = setup;
  const replicas = replicasOf(options);
  const endpoints = members.map((server, i) => {
    const { weight, virtual } = nth(replicas, i);
    return { name: String(server.index), weight, virtual };
  });
  const service = createService({
    options: options.policy,
    endpoints,
    port,
    rng,
    observer,
    nowMs: 0,
  });
  for (const [i, endpoint] of service.balancer.endpoints.entries()) endpoint.host = nth(members, i);
  if (board === undefined) return service;
  const balancer = new ReportedBalancer(service.balancer, board);
  const machine = new CallMachine({ ...service.machine.policy, balancer }, port, observer);
  return { ...service, balancer, machine };
}
