import { randomBytes } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { ask, gate, Testbed, talk, until } from "./proxy-testbed.ts";

const bed = new Testbed();
afterEach(() => bed.close());

const echo = (_request: unknown, response: import("node:http").ServerResponse, body: Buffer) =>
  response.end(body);

test("a small body arrives once, with its length", async () => {
  const backend = await bed.backend(echo);
  const proxy = await bed.service([backend.url]);
  const answer = await ask(proxy.port, { method: "POST", body: "hello" });
  expect(answer.body.toString()).toBe("hello");
  expect(backend.requests[0]?.headers["content-length"]).toBe("5");
  expect(backend.bodies.map(String)).toEqual(["hello"]);
});

test("a chunked body that stays small is passed on whole", async () => {
  const backend = await bed.backend(echo);
  const proxy = await bed.service([backend.url]);
  const pieces = [Buffer.from("one "), Buffer.from("two "), Buffer.from("three")];
  const answer = await ask(proxy.port, { method: "PUT", pieces });
  expect(answer.body.toString()).toBe("one two three");
  expect(backend.requests[0]?.headers["content-length"]).toBe("13");
});

test("a large body of known length is streamed with its length, a chunked one chunked, neither changed", async () => {
  const backend = await bed.backend(echo);
  const proxy = await bed.service([backend.url], { limit: { replayBodyBytes: 1000 } });
  const body = randomBytes(300_000);
  const known = await ask(proxy.port, {
    method: "POST",
    body,
    headers: { "content-length": "300000" },
  });
  expect(known.body.equals(body)).toBe(true);
  expect(backend.requests[0]?.headers["content-length"]).toBe("300000");
  const chunked = await ask(proxy.port, {
    method: "POST",
    pieces: [body.subarray(0, 700), body.subarray(700)],
  });
  expect(chunked.body.equals(body)).toBe(true);
  expect(backend.requests[1]?.headers["transfer-encoding"]).toBe("chunked");
  await proxy.idle();
});

test("a large body reaches the backend before it is complete", async () => {
  const begun = gate();
  const backend = await bed.backend((request, response) => {
    request.once("data", begun.open);
    request.on("end", () => response.end("whole"));
  }, true);
  const proxy = await bed.service([backend.url], { limit: { replayBodyBytes: 10 } });
  const heard = talk(
    proxy.port,
    "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 40\r\n\r\n12345678901234567890",
  );
  await begun.opened;
  expect(backend.requests).toHaveLength(1);
  // The client leaves in the middle: nothing stays behind.
  await proxy.running.close();
  await heard;
});

test("a client that cannot take more slows the backend down instead of filling memory", async () => {
  let sent = 0;
  const chunk = Buffer.alloc(64 * 1024);
  const backend = await bed.backend((_request, response) => {
    const more = () => {
      while (sent < 64 * 1024 * 1024) {
        sent += chunk.length;
        if (!response.write(chunk)) {
          response.once("drain", more);
          return;
        }
      }
      response.end();
    };
    more();
  });
  const proxy = await bed.service([backend.url]);
  const { connect } = await import("node:net");
  const socket = connect(proxy.port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  socket.pause();
  let before = -1;
  await until(() => {
    const still = sent > 0 && sent === before;
    before = sent;
    return still;
  });
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  let got = 0;
  socket.on("data", (data) => {
    got += data.length;
  });
  socket.resume();
  await until(() => got >= 64 * 1024 * 1024);
  socket.destroy();
  await proxy.idle();
});

test("hop-by-hop headers stay on their hop, both ways, and so do those that Connection names", async () => {
  const backend = await bed.backend((_request, response) => {
    response.writeHead(200, [
      ["connection", "keep-alive, x-private"],
      ["x-private", "1"],
      ["keep-alive", "timeout=7"],
      ["proxy-authenticate", "Basic"],
      ["x-kept", "1"],
      ["content-length", "2"],
    ] as unknown as string[]);
    response.end("ok");
  });
  const proxy = await bed.service([backend.url]);
  const heard = await talk(
    proxy.port,
    [
      "GET / HTTP/1.1",
      "host: shop.example",
      "connection: close, x-secret, authorization",
      "x-secret: 1",
      "authorization: Bearer t",
      "te: trailers",
      "keep-alive: timeout=1",
      "proxy-connection: keep-alive",
      "proxy-authorization: Basic x",
      "x-kept: 1",
      "",
      "",
    ].join("\r\n"),
  );
  const seen = backend.requests[0]?.headers ?? {};
  for (const name of ["x-secret", "te", "keep-alive", "proxy-connection", "proxy-authorization"])
    expect(seen[name]).toBeUndefined();
  // A Connection header cannot take away what every recipient needs.
  expect(seen.authorization).toBe("Bearer t");
  expect(seen["x-kept"]).toBe("1");
  expect(seen.host).toBe("shop.example");
  expect(heard).toMatch(/x-kept: 1/);
  expect(heard).not.toMatch(/x-private|proxy-authenticate|timeout=7/);
});

test("a trusted peer's forwarding headers are continued, an untrusted peer's replaced", async () => {
  const backend = await bed.backend(echo);
  const claim = {
    "x-forwarded-for": "9.9.9.9",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "user.example",
    forwarded: "for=9.9.9.9",
    via: "1.0 edge",
    host: "in.example",
  };
  const trusting = await bed.service([backend.url]);
  await trusting.get("/", claim);
  const wary = await bed.service([backend.url], {}, { trust: ["10.0.0.0/8"] });
  await wary.get("/", claim);
  const [trusted, untrusted] = backend.requests.map((r) => r.headers);
  expect(trusted?.["x-forwarded-for"]).toBe("9.9.9.9, 127.0.0.1");
  expect(trusted?.["x-forwarded-proto"]).toBe("https");
  expect(trusted?.["x-forwarded-host"]).toBe("user.example");
  expect(trusted?.forwarded).toBe('for=9.9.9.9, for=127.0.0.1;host="in.example";proto=http');
  expect(trusted?.via).toBe("1.0 edge, 1.1 bobtail");
  expect(untrusted?.["x-forwarded-for"]).toBe("127.0.0.1");
  expect(untrusted?.["x-forwarded-proto"]).toBe("http");
  expect(untrusted?.["x-forwarded-host"]).toBe("in.example");
  expect(untrusted?.forwarded).toBe('for=127.0.0.1;host="in.example";proto=http');
});

test("answers without a body stay without one, whatever length they tell", async () => {
  const backend = await bed.backend((request, response) => {
    if (request.method === "HEAD") response.writeHead(200, { "content-length": "1234" });
    else if (request.url === "/204") response.writeHead(204);
    else response.writeHead(304, { etag: '"x"' });
    response.end();
  });
  const proxy = await bed.service([backend.url]);
  const head = await ask(proxy.port, { method: "HEAD" });
  expect([head.status, head.headers["content-length"], head.body.length]).toEqual([200, "1234", 0]);
  expect((await proxy.get("/204")).headers["content-length"]).toBeUndefined();
  expect((await proxy.get("/304")).status).toBe(304);
  await proxy.idle();
});

test("trailers and repeated headers arrive as they were sent", async () => {
  const backend = await bed.backend((_request, response) => {
    response.writeHead(200, { "set-cookie": ["a=1", "b=2"], trailer: "x-sum" });
    response.write("body");
    response.addTrailers({ "x-sum": "42" });
    response.end();
  });
  const proxy = await bed.service([backend.url]);
  const answer = await proxy.get("/");
  expect(answer.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  expect(answer.trailers).toEqual({ "x-sum": "42" });
});

test("an informational answer is passed on before the final one", async () => {
  const backend = await bed.backend((_request, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    setImmediate(() => response.end("page"));
  });
  const proxy = await bed.service([backend.url]);
  const heard = await talk(proxy.port, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  expect(heard.indexOf("103 Early Hints")).toBeGreaterThan(-1);
  expect(heard.indexOf("200 OK")).toBeGreaterThan(heard.indexOf("</style.css>; rel=preload"));
});

test("an answer to a client of HTTP/1.0 is not chunked", async () => {
  const backend = await bed.backend((_request, response) => {
    response.write("a");
    setImmediate(() => response.end("b"));
  });
  const proxy = await bed.service([backend.url]);
  const heard = await talk(proxy.port, "GET / HTTP/1.0\r\nhost: a\r\n\r\n");
  expect(heard).not.toMatch(/transfer-encoding/i);
  expect(heard.endsWith("\r\n\r\nab")).toBe(true);
});

test("two requests sent at once on one connection are answered in their order", async () => {
  const backend = await bed.backend((request, response) => {
    if (request.url === "/1") setTimeout(() => response.end("first"), 20);
    else response.end("second");
  });
  const proxy = await bed.service([backend.url]);
  const heard = await talk(
    proxy.port,
    "GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
  );
  expect(heard.indexOf("first")).toBeGreaterThan(-1);
  expect(heard.indexOf("second")).toBeGreaterThan(heard.indexOf("first"));
});

test("routes choose by host and by whole path segments; a request that matches none gets 404", async () => {
  const a = await bed.backend((_q, r) => r.end("a"));
  const b = await bed.backend((_q, r) => r.end("b"));
  const proxy = await bed.proxy({
    listeners: [
      {
        host: "127.0.0.1",
        port: 0,
        service: [
          { host: "A.example", path: "/x", service: "a" },
          { path: "/b/", service: "b" },
        ],
      },
    ],
    services: {
      a: { endpoints: [{ url: a.url }], options: {} },
      b: { endpoints: [{ url: b.url }], options: {} },
    },
  });
  const body = async (path: string, host: string) => {
    const answer = await proxy.get(path, { host });
    return answer.status === 200 ? answer.body.toString() : answer.status;
  };
  expect(await body("/x/1?y", "a.example:99")).toBe("a");
  expect(await body("/x", "other")).toBe(404);
  expect(await body("/b?q", "other")).toBe("b");
  expect(await body("/bb", "other")).toBe(404);
});
