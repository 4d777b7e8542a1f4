import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import type { LoadReport } from "../../packages/cli/src/load/load-report.ts";

let cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.reverse()) await clean();
  cleanups = [];
});

export function afterThisTest(clean: () => Promise<void> | void): void {
  cleanups.push(clean);
}

/** Listens on a free port until the test is over, whatever is connected then. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return (server.address() as AddressInfo).port;
}

export async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(listener))}/`;
}

/** A server that is handed the sockets themselves. */
export async function serveRaw(onSocket: (socket: Socket) => void): Promise<string> {
  return `http://127.0.0.1:${await listen(createTcpServer(onSocket))}/`;
}

/** Calls back for each request on a socket: for requests without a body. */
export function onEachRequest(socket: Socket, answer: (turn: number) => void): void {
  let turn = 0;
  let rest = "";
  socket.on("data", (bytes) => {
    rest += bytes.toString("latin1");
    for (let end = rest.indexOf("\r\n\r\n"); end >= 0; end = rest.indexOf("\r\n\r\n")) {
      rest = rest.slice(end + 4);
      answer(turn++);
    }
  });
}

/** Every equation that a run's report must satisfy, however it ended. */
export function expectToAddUp(report: LoadReport): void {
  for (const { ledger: l, ...section } of [report.warmup, report.measured]) {
    expect(l.planned).toBe(l.sent + l.dropped + l.unsent);
    expect(l.sent).toBe(l.ok + l.httpErrors + l.transportErrors + l.timeouts + l.openAtEnd);
    expect([
      section.completed.count,
      section.all.count,
      section.failed.count,
      section.service.count,
      section.pacingLag.count,
      section.queueing.count,
      section.sendLag.count,
    ]).toEqual([
      l.ok,
      l.ok + l.timeouts + l.openAtEnd,
      l.httpErrors + l.transportErrors,
      l.ok,
      l.sent,
      l.sent,
      l.sent,
    ]);
    expect([sum(section.statuses.values()), sum(section.failures.values())]).toEqual([
      l.ok + l.httpErrors,
      l.transportErrors,
    ]);
  }
  const { ledger } = report.measured;
  expect([
    sum(report.intervals.map((interval) => interval.sent)),
    sum(report.intervals.map((interval) => interval.dropped)),
    sum(report.intervals.map((interval) => interval.all.count)),
    sum(report.intervals.map((interval) => interval.infinite)),
  ]).toEqual([
    ledger.sent,
    ledger.dropped,
    ledger.ok + ledger.timeouts + ledger.openAtEnd,
    ledger.httpErrors + ledger.transportErrors + ledger.dropped,
  ]);
  expect(report.warmupMs + report.runMs + report.drainMs).toBeCloseTo(report.wallMs, 6);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** A certificate for localhost; undefined where there is no openssl to make one. */
export function certificate(): { readonly key: string; readonly cert: string } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "bobtail-load-"));
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
  const request = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext ${names}`;
  try {
    const args = [...request.split(" "), "-keyout", keyFile, "-out", certFile];
    execFileSync("openssl", args, { stdio: "ignore" });
    return { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8") };
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
