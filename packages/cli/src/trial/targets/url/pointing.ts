import { hostPort } from "../host-port.ts";

/** How the address list of the fleet is written for somebody else's balancer. */
export const POINTING_DIALECTS = ["plain", "nginx", "haproxy", "envoy"] as const;

export type PointingDialect = (typeof POINTING_DIALECTS)[number];

const TITLES: Readonly<Record<PointingDialect, string>> = {
  plain: "Addresses",
  nginx: "nginx, in `http`",
  haproxy: "HAProxy, in the backend",
  envoy: "Envoy, in the cluster (YAML takes JSON too)",
};

/** The backends in one dialect; ends with a line break. */
export function pointing(backends: readonly string[], dialect: PointingDialect): string {
  const addresses = backends.map(hostPort);
  switch (dialect) {
    case "plain":
      return lines(addresses);
    case "nginx":
      return `upstream fleet {\n${lines(addresses.map((address) => `  server ${address};`))}}\n`;
    case "haproxy":
      return lines(addresses.map((address, index) => `server b${index} ${address}`));
    case "envoy":
      return envoyAssignment(backends);
  }
}

/** All dialects, each under its title. */
export function pointingText(backends: readonly string[]): string {
  return POINTING_DIALECTS.map(
    (dialect) => `# ${TITLES[dialect]}\n${pointing(backends, dialect)}`,
  ).join("\n");
}

function envoyAssignment(backends: readonly string[]): string {
  const endpoints = backends.map((url) => {
    const { hostname, port } = new URL(url);
    const endpoint = {
      address: { socket_address: { address: hostname, port_value: Number(port) } },
    };
    return `      ${JSON.stringify({ endpoint })}`;
  });
  return `"load_assignment": {
  "cluster_name": "fleet",
  "endpoints": [{
    "lb_endpoints": [
${endpoints.join(",\n")}
    ]
  }]
}
`;
}

function lines(items: readonly string[]): string {
  return items.map((item) => `${item}\n`).join("");
}
