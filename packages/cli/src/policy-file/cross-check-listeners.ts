import { nearest } from "./nearest.ts";
import type { Path, Report } from "./report.ts";
import type { Tree } from "./tree.ts";
import {
  type ListenAddress,
  readDurationMs,
  readListenAddress,
  show,
  showListenAddress,
} from "./units.ts";

/** More are refused by the schema; comparing them with each other would only take time. */
const MAX_COMPARED = 1000;

/** Mistakes between listeners, routes and the names of services. */
export function crossCheckListeners(
  root: Tree,
  services: ReadonlySet<string>,
  report: Report,
): void {
  const listen = root.children.get("listen");
  const isList = Array.isArray(listen?.value);
  const listeners: [Tree, Path][] =
    listen === undefined
      ? []
      : isList
        ? [...listen.children].map(([index, tree]) => [tree, ["listen", index]])
        : [[listen, ["listen"]]];
  const taken: ListenAddress[] = [];
  for (const [listener, path] of listeners.slice(0, MAX_COMPARED)) {
    checkAddress(listener, path, report, taken);
    checkTargets(listener, path, report, services);
  }
  const admin = root.children.get("admin");
  if (admin !== undefined) checkAddress(admin, ["admin"], report, taken);
  checkClientTimes(root.children.get("client"), report);
}

function checkClientTimes(client: Tree | undefined, report: Report): void {
  const headers = client?.children.get("headers");
  const request = client?.children.get("request");
  const at = request ?? headers;
  if (at === undefined) return;
  const headersMs = readDurationMs(headers?.value ?? "10s");
  const requestMs = readDurationMs(request?.value ?? "5m");
  if (!headersMs.ok || !requestMs.ok || headersMs.value <= requestMs.value) return;
  report(at, {
    path: ["client"],
    reason: `a whole request may take ${requestMs.value} ms, but its headers alone ${headersMs.value} ms`,
    remedy: "Write headers shorter than request.",
  });
}

function checkAddress(holder: Tree, path: Path, report: Report, taken: ListenAddress[]): void {
  const at = holder.children.get("address");
  const reading = at === undefined ? undefined : readListenAddress(at.value);
  if (at === undefined || reading === undefined || !reading.ok) return;
  const address = reading.value;
  const other = taken.find((earlier) => overlap(earlier, address));
  taken.push(address);
  if (other === undefined) return;
  report(at, {
    path: [...path, "address"],
    reason: `${showListenAddress(address)} is taken by the listener on ${showListenAddress(other)}`,
    remedy: "Give it another port.",
  });
}

/** Two sockets on one port clash when either is bound to every interface. Port 0 is a new one each time. */
function overlap(a: ListenAddress, b: ListenAddress): boolean {
  if (a.port !== b.port || a.port === 0) return false;
  const [one, two] = [canonicalHost(a.host), canonicalHost(b.host)];
  return one === two || one === "*" || two === "*";
}

function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  if (lower === "" || lower === "::" || lower === "0.0.0.0") return "*";
  return lower === "localhost" ? "127.0.0.1" : lower;
}

function checkTargets(
  listener: Tree,
  path: Path,
  report: Report,
  services: ReadonlySet<string>,
): void {
  const service = listener.children.get("service");
  const routes = listener.children.get("routes");
  if (service === undefined && routes === undefined && listener.keys.size > 0) {
    const remedy = `Add \`service: ${[...services][0] ?? "NAME"}\`.`;
    report(listener, { path, reason: "a listener needs a service or routes", remedy });
  }
  if (service !== undefined && routes !== undefined) {
    const remedy = "Make the service the last route, without host and path.";
    report(service, { path, reason: "a listener has a service or routes, not both", remedy });
  }
  checkName(service, [...path, "service"], report, services);

  const seen = new Map<string, number>();
  let catchAll: number | undefined;
  for (const [index, route] of [...(routes?.children ?? [])].slice(0, MAX_COMPARED)) {
    const here = [...path, "routes", index];
    checkName(route.children.get("service"), [...here, "service"], report, services);
    const host = route.children.get("host")?.value;
    const match = route.children.get("path")?.value;
    const key = JSON.stringify([typeof host === "string" ? host.toLowerCase() : host, match]);
    const earlier = catchAll ?? seen.get(key);
    if (earlier !== undefined) {
      const reason = `this route is never reached: route ${earlier + 1} takes its requests`;
      report(route, { path: here, reason, remedy: "Remove it, or move it up." });
    }
    seen.set(key, Number(index));
    if (host === undefined && match === undefined && route.keys.size > 0) {
      catchAll ??= Number(index);
    }
  }
}

function checkName(
  at: Tree | undefined,
  path: Path,
  report: Report,
  services: ReadonlySet<string>,
): void {
  if (at === undefined || typeof at.value !== "string" || at.value === "") return;
  if (services.has(at.value)) return;
  const near = nearest(at.value, [...services]);
  report(at, {
    path,
    reason: `no service is named ${show(at.value)}`,
    remedy:
      near !== undefined
        ? `Did you mean "${near}"?`
        : services.size > 0
          ? `Services of this file: ${[...services].slice(0, 10).join(", ")}.`
          : "Define it under `services`.",
  });
}
