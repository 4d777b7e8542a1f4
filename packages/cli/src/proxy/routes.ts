import type { ListenerConfig, RouteConfig } from "./config.ts";

/** A route as it runs; `T` is what serves it. */
export interface Route<T> {
  readonly name: string;
  readonly host: string | undefined;
  readonly path: string | undefined;
  readonly target: T;
}

export function compileRoutes<T>(
  listener: Pick<ListenerConfig, "service">,
  targetOf: (service: string, route: string) => T,
): readonly Route<T>[] {
  const { service } = listener;
  const list: readonly RouteConfig[] = typeof service === "string" ? [{ service }] : service;
  return list.map((route) => {
    const name = route.name ?? route.service;
    return {
      name,
      host: route.host?.toLowerCase(),
      path: route.path === "/" ? undefined : route.path?.replace(/\/$/, ""),
      target: targetOf(route.service, name),
    };
  });
}

/** The first route that matches. `path` may carry a query. */
export function findRoute<T>(
  routes: readonly Route<T>[],
  host: string,
  path: string,
): Route<T> | undefined {
  for (const route of routes) {
    if (route.host !== undefined && route.host !== hostName(host)) continue;
    if (route.path === undefined || isUnder(path, route.path)) return route;
  }
  return undefined;
}

/** Whole segments: `/a` holds `/a`, `/a/b` and `/a?q`, but not `/ab`. */
function isUnder(path: string, prefix: string): boolean {
  if (!path.startsWith(prefix)) return false;
  const next = path.charCodeAt(prefix.length);
  return Number.isNaN(next) || next === 47 || next === 63;
}

/** The host without its port, in lower case. */
function hostName(host: string): string {
  const end = host.startsWith("[") ? host.indexOf("]") + 1 : host.indexOf(":");
  return (end > 0 ? host.slice(0, end) : host).toLowerCase();
}
