import { expect, test } from "vitest";
import { POINTING_DIALECTS, pointing } from "./pointing.ts";
import { urlTarget } from "./url-target.ts";

const backends = ["http://127.0.0.1:9001", "http://127.0.0.1:9002"];

test.each(POINTING_DIALECTS)("the fleet's addresses can be written for %s", (dialect) => {
  const text = pointing(backends, dialect);
  expect(text.match(/9001/g)).toHaveLength(1);
  expect(text.match(/9002/g)).toHaveLength(1);
});

test("nginx gets an upstream block, HAProxy named servers", () => {
  expect(pointing(backends, "nginx")).toBe(
    "upstream fleet {\n  server 127.0.0.1:9001;\n  server 127.0.0.1:9002;\n}\n",
  );
  expect(pointing(backends, "haproxy")).toBe(
    "server b0 127.0.0.1:9001\nserver b1 127.0.0.1:9002\n",
  );
});

test("Envoy's piece is JSON with every endpoint", () => {
  const parsed = JSON.parse(`{${pointing(backends, "envoy")}}`);
  const endpoints = parsed.load_assignment.endpoints[0].lb_endpoints;
  expect(
    endpoints.map(
      (e: { endpoint: { address: { socket_address: object } } }) =>
        e.endpoint.address.socket_address,
    ),
  ).toEqual([
    { address: "127.0.0.1", port_value: 9001 },
    { address: "127.0.0.1", port_value: 9002 },
  ]);
});

test("a balancer of somebody else is neither started nor stopped, and its owner is told the addresses", async () => {
  const target = urlTarget("http://127.0.0.1:8080/");
  const running = await target.start(backends, { directory: "/nowhere", healthPath: "/healthz" });
  expect(running.url).toBe("http://127.0.0.1:8080");
  expect(running.pid).toBeUndefined();
  for (const dialect of POINTING_DIALECTS)
    expect(running.config).toContain(pointing(backends, dialect));
  await running.stop();
});

test.each([
  ["127.0.0.1:8080", /not the address of a balancer/],
  ["https://127.0.0.1:8080", /a trial speaks plain HTTP/],
  ["http://127.0.0.1:8080/search?q=1", /more than an address/],
])("--url %s is refused", (written, message) => {
  expect(() => urlTarget(written)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(message),
      remedy: expect.stringContaining("http://127.0.0.1:8080"),
    }),
  );
});
