import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { parseRetryAfter } from "../../packages/cli/src/proxy/deadline-header.ts";
import { isOwnPath } from "../../packages/cli/src/proxy/request-target.ts";
import { gate, Testbed, talk, until } from "./proxy-testbed.ts";

const bed = new Testbed();
afterEach(() => bed.close());

const UPGRADE = "GET /up HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";

function statuses(heard: string): number[] {
  return [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));
}

for (const [name, second] of [
  ["an upgrade", UPGRADE],
  ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n"],
] as const) {
  test(`${name} sent behind an unanswered request ends the connection after that answer, and nothing else`, async () => {
    const ready = gate();
    const backend = await bed.backend((_request, response) => {
      void ready.opened.then(() => response.end("first"));
    });
    const proxy = await bed.service([backend.url]);
    const heard = talk(proxy.port, `GET /1 HTTP/1.1\r\nhost: a\r\n\r\n${second}`);
    await until(() => backend.requests.length === 1);
    ready.open();
    expect(statuses(await heard)).toEqual([200]);
    expect(await heard).toContain("first");
    await proxy.idle();
    expect(backend.requests).toHaveLength(1);
  });
}

test("answers that are due before a pipelined upgrade all arrive", async () => {
  const ready = gate();
  const backend = await bed.backend((request, response) => {
    void ready.opened.then(() => response.end(request.url));
  });
  const proxy = await bed.service([backend.url]);
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
  const heard = talk(proxy.port, get("/1") + get("/2") + get("/3") + UPGRADE);
  await until(() => backend.requests.length === 3);
  ready.open();
  expect(statuses(await heard)).toEqual([200, 200, 200]);
  await proxy.idle();
});

test("a refused upgrade passes a long answer whole to a client that reads late, and piles up no listeners", async () => {
  const warnings: string[] = [];
  const warned = (warning: Error): void => void warnings.push(warning.name);
  process.on("warning", warned);
  const sizeBytes = 4_000_000;
  const backend = await bed.backend((_request, response) => response.end(Buffer.alloc(sizeBytes)));
  const proxy = await bed.service([backend.url]);
  const client = connect(proxy.port, "127.0.0.1");
  client.write(UPGRADE);
  client.pause();
  await until(() => proxy.running.stats().running === 1 && backend.requests.length === 1);
  let read = 0;
  client.on("data", (chunk) => {
    read += chunk.length;
  });
  client.resume();
  await once(client, "close");
  expect(read).toBeGreaterThan(sizeBytes);
  await proxy.idle();
  process.off("warning", warned);
  expect(warnings).not.toContain("MaxListenersExceededWarning");
});

test("a client that leaves while its upgrade waits for an answer ends the attempt", async () => {
  const backend = await bed.rawBackend(() => {});
  const proxy = await bed.service([backend.url]);
  const client = connect(proxy.port, "127.0.0.1");
  client.write(UPGRADE);
  await until(() => proxy.stats.endpoints[0]?.outstanding === 1);
  client.end();
  await proxy.idle();
  expect(proxy.stats.aborted).toBe(1);
});

test("a client that keeps its side open after a refused switch of protocols loses the connection", async () => {
  const backend = await bed.backend((_request, response) => response.writeHead(400).end("no"));
  const proxy = await bed.service([backend.url]);
  const clients = [
    UPGRADE,
    "CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n",
    UPGRADE.replace("\r\n\r\n", "\r\ncontent-length: 3\r\n\r\nabc"),
  ].map((bytes) => {
    const client = connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true });
    client.on("error", () => {});
    client.resume();
    client.write(bytes);
    return client;
  });
  await Promise.all(clients.map((client) => once(client, "end")));
  await until(() => proxy.running.stats().connections === 0);
  for (const client of clients) client.destroy();
});

test("a client that never takes the rest of its answers keeps its connection no longer than an idle one", async () => {
  const backend = await bed.backend((_request, response) => response.end(Buffer.alloc(60_000)));
  const proxy = await bed.service([backend.url], {}, { client: { idleMs: 200 } });
  const client = connect(proxy.port, "127.0.0.1");
  client.on("error", () => {});
  client.pause();
  for (let i = 0; i < 300; i++) client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await until(() => proxy.stats.calls > 100);
  await until(() => proxy.running.stats().connections === 0);
  client.destroy();
  await proxy.idle();
});

test("later answers on a connection that nobody reads do not set the first one going: memory stays bounded", async () => {
  const chunk = Buffer.alloc(65_536);
  let sentBytes = 0;
  const backend = await bed.rawBackend((socket) => {
    const pump = (): void => {
      if (socket.destroyed) return;
      sentBytes += chunk.length;
      if (socket.write(chunk)) setImmediate(pump);
      else socket.once("drain", pump);
    };
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      pump();
    });
  });
  const small = await bed.backend((_request, response) => response.end("ok"));
  const proxy = await bed.proxy({
    listeners: [
      {
        host: "127.0.0.1",
        port: 0,
        service: [{ path: "/small", service: "small" }, { service: "endless" }],
      },
    ],
    services: {
      endless: { endpoints: [{ url: backend.url }], options: {} },
      small: { endpoints: [{ url: small.url }], options: {} },
    },
  });
  const client = connect(proxy.port, "127.0.0.1");
  client.on("error", () => {});
  client.pause();
  for (let i = 0; i < 6; i++) {
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2));
    for (let k = 0; k < 20; k++) expect((await proxy.get("/small")).status).toBe(200);
  }
  // What the system's buffers hold, and no more.
  expect(sentBytes).toBeLessThan(100_000_000);
  client.destroy();
  await proxy.idle();
});

test("connections that say nothing, or half a request, outlive neither a drain's grace nor their listener", async () => {
  const backend = await bed.backend((_request, response) => response.end());
  const proxy = await bed.service([backend.url], {}, { client: { headersMs: 300 } });
  const silent = connect(proxy.port, "127.0.0.1");
  const half = connect(proxy.port, "127.0.0.1");
  for (const client of [silent, half]) client.on("error", () => {}).resume();
  half.write("GET / HT");
  await until(() => proxy.running.stats().connections === 2);
  await proxy.running.reload({
    listeners: [{ host: "127.0.0.2", port: 0, service: "s" }],
    services: { s: { endpoints: [{ url: backend.url }], options: {} } },
  });
  await until(() => proxy.running.stats().connections === 0);
});

test("304 may tell the length that 200 would have, and 204 tells none", async () => {
  for (const [status, told] of [
    [304, true],
    [204, false],
  ] as const) {
    const backend = await bed.rawBackend((socket) => {
      socket.on("data", () => socket.write(`HTTP/1.1 ${status} X\r\ncontent-length: 1234\r\n\r\n`));
    });
    const proxy = await bed.service([backend.url]);
    const heard = await talk(
      proxy.port,
      "GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
    );
    expect(statuses(heard)).toEqual([status, status]);
    expect(heard.includes("content-length")).toBe(told);
    await proxy.idle();
    expect(proxy.stats.failed).toBe(0);
  }
});

test("a reply without a length that a reset breaks off is not passed on as whole", async () => {
  const backend = await bed.rawBackend((socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\nbegun");
      void sent.opened.then(() => socket.resetAndDestroy());
    });
  });
  const sent = gate();
  const proxy = await bed.service([backend.url]);
  const client = connect(proxy.port, "127.0.0.1");
  let heard = "";
  client.on("error", () => {});
  client.on("data", (chunk) => {
    heard += chunk.toString("latin1");
    if (heard.includes("begun")) sent.open();
  });
  client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await once(client, "close");
  expect(heard).toContain("begun");
  expect(heard).not.toContain("\r\n0\r\n");
  await proxy.idle();
});

test("a reply in a transfer coding that the client could not undo is answered 502", async () => {
  const backend = await bed.rawBackend((socket) => {
    socket.once("data", () =>
      socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"),
    );
  });
  const proxy = await bed.service([backend.url]);
  const answer = await proxy.get("/");
  expect([answer.status, JSON.parse(answer.body.toString()).reason]).toEqual([502, "bad_reply"]);
  await proxy.idle();
});

test("a reason phrase that cannot be written is left out, not the reply", async () => {
  const backend = await bed.rawBackend((socket) => {
    socket.once("data", () =>
      socket.end(Buffer.from("HTTP/1.1 200 \xe9\r\ncontent-length: 2\r\n\r\nhi", "latin1")),
    );
  });
  const proxy = await bed.service([backend.url]);
  const answer = await proxy.get("/");
  expect([answer.status, answer.body.toString()]).toEqual([200, "hi"]);
});

test("an endpoint that sends hints without end has only the first few passed on", async () => {
  const hint = "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n";
  const backend = await bed.rawBackend((socket) => {
    socket.once("data", () =>
      socket.end(`${hint.repeat(100)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`),
    );
  });
  const proxy = await bed.service([backend.url]);
  const heard = await talk(proxy.port, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  expect(statuses(heard).filter((status) => status === 103)).toHaveLength(16);
  expect(statuses(heard).at(-1)).toBe(200);
});

test("a host that could be read as anything else, or twice, is refused, and so are chunks in HTTP/1.0", async () => {
  const backend = await bed.backend((_request, response) => response.end());
  const proxy = await bed.service([backend.url]);
  for (const request of [
    "GET / HTTP/1.1\r\nhost: a b\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: a/b\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: user@a\r\n\r\n",
    'GET / HTTP/1.1\r\nhost: a", for="6.6.6.6\r\n\r\n',
    "GET http://c/ HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
    "POST / HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  ])
    expect([request, statuses(await talk(proxy.port, request))]).toEqual([request, [400]]);
  for (const host of ["[::1]:80", "a.b-c_d:8080", "xn--e1a", "1.2.3.4"]) {
    const request = `GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
    expect([host, statuses(await talk(proxy.port, request))]).toEqual([host, [200]]);
  }
  expect(backend.requests).toHaveLength(4);
});

test("Bobtail's own paths are known in every spelling", () => {
  for (const path of [
    "/.bobtail",
    "/.bobtail/load?x",
    "/%2ebobtail/load",
    "//.bobtail/load",
    "/x/../.bobtail/load",
    "/x/%2e%2e/.%62obtail/load",
    "/\\.Bobtail/load",
  ])
    expect([path, isOwnPath(path)]).toEqual([path, true]);
  for (const path of ["/", "/.bobtails", "/x/.bobtail", "/a%20b", "/?/.bobtail", "/%zz"])
    expect([path, isOwnPath(path)]).toEqual([path, false]);
});

test("Retry-After is obeyed however long it is, and what is neither seconds nor a date says nothing", () => {
  expect(parseRetryAfter("99999999999", 0)).toBe(99_999_999_999_000);
  for (const value of ["-5", "5.5", "2050", "soon", ""])
    expect([value, parseRetryAfter(value, 0) ?? "nothing"]).toEqual([
      value,
      value === "2050" ? 2_050_000 : "nothing",
    ]);
  expect(parseRetryAfter("Thu, 01 Jan 1970 00:00:09 GMT", 2_000)).toBe(7_000);
});
