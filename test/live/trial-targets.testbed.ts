import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TrialBackends {
  readonly urls: readonly string[];
  /** Requests received by each since the last `clear`, health checks aside. */
  readonly counts: number[];
  clear(): void;
  close(): void;
}

/**
 * Backends that echo the body; `/teapot` is answered 418, `/broken` 503. Each answer waits for a turn of a timer,
 * so that requests overlap and balancers that count them have something to count.
 */
export async function startBackends(count: number): Promise<TrialBackends> {
  const counts = Array.from({ length: count }, () => 0);
  const servers = counts.map((_, index) =>
    createServer((request, response) => {
      if (request.url === "/healthz") {
        response.end("ok");
        return;
      }
      counts[index] = (counts[index] ?? 0) + 1;
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const status = request.url === "/teapot" ? 418 : request.url === "/broken" ? 503 : 200;
        setTimeout(() => {
          response.writeHead(status, { "content-type": "text/plain" });
          response.end(Buffer.concat(chunks));
        }, 4);
      });
    }),
  );
  await Promise.all(
    servers.map((server) => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
  );
  return {
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    counts,
    clear: () => void counts.fill(0),
    close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

export function freshDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "bobtail-trial-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Living processes of a group, or undefined where the system has no /proc. */
export function groupMembers(group: number): readonly number[] | undefined {
  let names: readonly string[];
  try {
    names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  return names.map(Number).filter((pid) => {
    const stat = statOf(pid);
    return stat !== undefined && stat.group === group && stat.state !== "Z";
  });
}

/** Of a process; undefined when it is gone. */
export function statOf(
  pid: number,
): { readonly state: string; readonly parent: number; readonly group: number } | undefined {
  try {
    const [state = "", parent, group] = (
      readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? ""
    ).split(" ");
    return { state, parent: Number(parent), group: Number(group) };
  } catch {
    return undefined;
  }
}

/** Looks again and again; the test's own time limit is the only one. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}
