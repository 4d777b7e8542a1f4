import { createServer, type Server } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startLoad } from "../../packages/cli/src/load/load.ts";
import { runCli } from "./cli-process.testbed.ts";

const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: Pick<Server, "listen" | "address" | "close">): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

test.each(["http1", "http2"] as const)(
  "%s connects to the addresses that were checked, whatever the name means by then, and still asks for the name",
  async (protocol) => {
    const hosts = new Set<string | undefined>();
    const port = await portOf(
      protocol === "http1"
        ? createServer((request, response) => {
            hosts.add(request.headers.host);
            response.end("ok");
          })
        : (createHttp2Server((request, response) => {
            hosts.add(request.headers[":authority"] as string);
            response.end("ok");
          }) as unknown as Server),
    );
    // A name that nobody's resolver knows (RFC 2606).
    const { measured } = await startLoad({
      url: `http://pinned.invalid:${port}/`,
      addresses: { "pinned.invalid": ["127.0.0.1"] },
      protocol,
      ratePerSec: 50,
      durationMs: 200,
    }).report;
    expect(measured.ledger.ok).toBe(10);
    expect([...hosts]).toEqual([`pinned.invalid:${port}`]);
  },
);

test("a public address is refused before anything is sent, with what to say if it is one's own", async () => {
  for (const url of ["http://192.0.2.1/", "https://[2001:db8::1]/"]) {
    const { exitCode, stdout, stderr } = await runCli("load", url, "--duration", "1s");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/is outside loopback and the private ranges.*\n.*--i-own-this/s);
  }
});
