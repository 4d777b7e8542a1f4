import { z } from "zod";
import type { Address, ClientLimits, ListenerConfig, RouteConfig } from "../proxy/config.ts";
import { addressBlock, choice, count, duration, field, size, text } from "./fields.ts";
import { type ServiceFile, serviceSchema } from "./service-schema.ts";
import { no, readListenAddress, show } from "./units.ts";

/** A whole policy file, in the units of the library; its TLS files are not read yet. */
export interface PolicyFile {
  readonly listen: readonly ListenerConfig[];
  readonly admin?: Address | undefined;
  readonly trust?: readonly string[] | undefined;
  readonly accessLog?: "stdout" | "off" | undefined;
  readonly client?: ClientLimits | undefined;
  readonly services: Readonly<Record<string, ServiceFile>>;
}

/** Names end up in metrics and addresses of the admin page. */
export const SERVICE_NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$";

const address: z.ZodType<Address> = field(
  { type: "string", description: "host:port, [::1]:port, or :port for every interface." },
  readListenAddress,
);

const serviceName = text("A service named under `services`.", 63);

const routePath = field<string>(
  {
    type: "string",
    pattern: "^/",
    description: "The path is this or goes on after a `/`; absent: every path.",
  },
  (written) =>
    typeof written === "string" && /^\/[^?#\s]{0,1023}$/.test(written)
      ? { ok: true, value: written }
      : no(`expected a path, received ${show(written)}`, "Write /v1; no query, no wildcard."),
);

const routeHost = field<string>(
  {
    type: "string",
    description: "The request's host without its port, in any case; absent: every host.",
  },
  (written) =>
    typeof written === "string" &&
    /^([A-Za-z0-9_-][A-Za-z0-9_.-]{0,252}|\[[0-9a-fA-F:.]+\])$/.test(written)
      ? { ok: true, value: written }
      : no(
          `expected a host name, received ${show(written)}`,
          "Write api.example.com; no port, no wildcard.",
        ),
);

const route: z.ZodType<RouteConfig> = z.strictObject({
  name: text("Names the route in metrics; default the service's name.", 63).optional(),
  host: routeHost.optional(),
  path: routePath.optional(),
  service: serviceName,
});

const listener: z.ZodType<ListenerConfig> = z
  .strictObject({
    address,
    service: serviceName
      .describe("One service for every request. Give this or `routes`.")
      .optional(),
    routes: z
      .array(route)
      .min(1)
      .max(1000)
      .describe("Tried in their order; a request that matches none is answered 404.")
      .optional(),
  })
  .transform(({ address, service, routes }) => ({ ...address, service: service ?? routes ?? [] }));

const client: z.ZodType<ClientLimits> = z
  .strictObject({
    connections: count("Open connections in all; default 10000.", 1).optional(),
    headerSize: size(
      "Request line and headers together; default 16KiB.",
      1024,
      1_048_576,
    ).optional(),
    headerCount: count("Header lines; default 128.", 1, 10_000).optional(),
    headers: duration("To the end of a request's headers; default 10s.").optional(),
    request: duration("To the end of a request's body; default 5m.").optional(),
    idle: duration("An open connection between two requests; default 60s.").optional(),
    tunnelIdle: duration("An upgraded connection on which nothing is said; default 1h.").optional(),
  })
  .transform((w) => ({
    connections: w.connections,
    headerBytes: w.headerSize,
    headerCount: w.headerCount,
    headersMs: w.headers,
    requestMs: w.request,
    idleMs: w.idle,
    tunnelIdleMs: w.tunnelIdle,
  }));

/** The one description of a policy file: validation, types and JSON Schema come from it. */
export const policySchema: z.ZodType<PolicyFile> = z
  .strictObject({
    listen: z
      .union([listener.transform((one) => [one]), z.array(listener).min(1).max(100)])
      .describe("Where requests come in: one listener or a list.")
      .optional(),
    admin: z
      .strictObject({ address })
      .transform((w) => w.address)
      .describe("Health, metrics and statistics; never serve it to the public.")
      .optional(),
    trust: z
      .array(addressBlock("A block of addresses, such as 10.0.0.0/8."))
      .max(1000)
      .describe("Peers whose bobtail-* and forwarding headers are believed; default loopback.")
      .optional(),
    accessLog: choice("One JSON line a request; default off.", ["stdout", "off"]).optional(),
    client: client.describe("What one client may cost.").optional(),
    services: z
      .record(z.string().meta({ pattern: SERVICE_NAME_PATTERN }), serviceSchema)
      .describe("Sets of interchangeable endpoints, by name."),
  })
  .transform((w) => ({ ...w, listen: w.listen ?? [] }));
