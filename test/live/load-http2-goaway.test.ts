import { createServer as createHttp2Server } from "node:http2";
import { expect, test } from "vitest";
import { startLoad } from "../../packages/cli/src/load/load.ts";
import { startCli } from "./cli-process.testbed.ts";
import { afterThisTest, expectToAddUp, listen } from "./load.testbed.ts";

/** Answers one request a connection, takes no more on it, and leaves the closing to the client. */
async function serveOnce(): Promise<string> {
  const server = createHttp2Server();
  server.on("session", (session) => session.on("error", () => {}));
  server.on("stream", (stream) => {
    stream.session?.goaway(0, stream.id);
    stream.respond({ ":status": 200 });
    stream.end("ok");
  });
  return `http://127.0.0.1:${await listen(server)}/`;
}

test("HTTP/2: a connection that the server will take no more on makes way for the next", async () => {
  const report = await startLoad({
    url: await serveOnce(),
    ratePerSec: 20,
    durationMs: 500,
    arrivals: "uniform",
    timeoutMs: 2_000,
    connections: 1,
    protocol: "http2",
  }).report;
  expectToAddUp(report);
  expect([report.measured.ledger.ok, report.measured.connect.count]).toEqual([10, 10]);
});

test("HTTP/2: servers that never close their side do not keep the command from ending", async () => {
  const url = await serveOnce();
  const flags = ["--rate", "20", "--duration", "300ms", "--warmup", "0s", "--quiet", "--http2"];
  const cli = startCli(["load", url, ...flags]);
  afterThisTest(() => {
    cli.child.kill("SIGKILL");
  });
  const { stdout } = await cli.finished;
  expect(stdout).toContain("sent 6 = ok 6");
});
