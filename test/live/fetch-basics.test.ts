import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { isBobtailError } from "../../packages/bobtail/src/index.ts";
import { backend, bodyOf, client, outstanding, until } from "./fetch-backend.ts";

test("a response is what fetch gives: url, status, headers and the decoded body", async () => {
  const b = await backend((_, response) => {
    response.writeHead(201, { "content-encoding": "gzip", "x-mark": "a" });
    response.end(gzipSync("hello"));
  });
  const c = client([b.url]);
  const response = await c.fetch("/deep/../q?term=bob#part");
  expect(response.url).toBe(`${b.url}/q?term=bob`);
  expect([response.status, response.headers.get("x-mark"), response.redirected]).toEqual([
    201,
    "a",
    false,
  ]);
  expect(await response.text()).toBe("hello");
  await until(() => outstanding(c) === 0);
});

test.each([400, 404, 500])("%i is an answer, and no failure of its endpoint", async (status) => {
  const b = await backend((_, response) => response.writeHead(status).end("no"));
  const c = client([b.url]);
  const response = await c.fetch("/");
  expect([response.status, await response.text(), b.requests.length]).toEqual([status, "no", 1]);
  expect(c.stats().endpoints[0]?.failures).toBe(0);
});

test.each([
  "http://127.0.0.1:9/x",
  "//127.0.0.1:9/x",
  "https://example.com/",
  "data:,hi",
  "/\\127.0.0.1:9",
])("%s is refused before anything is sent", async (input) => {
  const b = await backend((_, response) => response.end());
  const c = client([b.url]);
  const error = await c.fetch(input).catch((e: unknown) => e);
  expect(isBobtailError(error, "ERR_BOBTAIL_FOREIGN_ORIGIN")).toBe(true);
  expect([b.opened, c.stats().attempts]).toEqual([0, 0]);
});

test("a URL of one endpoint is a request to the service", async () => {
  const b = await backend((request, response) => response.end(request.url));
  const c = client([b.url]);
  expect(await (await c.fetch(new URL("/a?b", b.url))).text()).toBe("/a?b");
  await expect(c.fetch(b.url.replace("//", "//user:secret@"))).rejects.toThrow(TypeError);
  await expect(c.fetch("http://[")).rejects.toThrow(TypeError);
});

test("a redirect is followed within the endpoints, through the pool of the one it names", async () => {
  const other = await backend((_, response) => response.end("there"));
  const b = await backend((_, response) => {
    // More than any buffer holds: it must not keep the connection.
    response.writeHead(302, { location: `${other.url}/x` }).end("b".repeat(300_000));
  });
  const c = client([b.url, other.url], { balance: { policy: "round-robin" } });
  for (let i = 0; i < 4; i++) expect(await (await c.fetch("/")).text()).toBe("there");
  expect([other.opened, c.stats().attempts]).toEqual([1, 4]);
  await until(() => outstanding(c) === 0);
  // What comes with a redirect is too long to be read, so its connection goes.
  await until(() => b.open.size === 0);
  await c.close();
  await until(() => b.open.size + other.open.size === 0);
});

test("a redirect out of the endpoints is refused, and nothing is sent there", async () => {
  const outside = await backend((_, response) => response.end());
  const b = await backend((_, response) =>
    response.writeHead(307, { location: outside.url }).end(),
  );
  const c = client([b.url], { retry: { max: 2 } });
  const error = await c
    .fetch("/", { headers: { authorization: "secret" } })
    .catch((e: unknown) => e);
  expect(isBobtailError(error, "ERR_BOBTAIL_FOREIGN_ORIGIN")).toBe(true);
  expect([outside.opened, b.requests.length]).toEqual([0, 1]);
  expect(outstanding(c)).toBe(0);
});

test("redirect: manual gives the redirect itself, and error rejects as fetch does", async () => {
  const b = await backend((_, response) =>
    response.writeHead(302, { location: "/x" }).end("b".repeat(300_000)),
  );
  const c = client([b.url]);
  const response = await c.fetch("/", { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([302, "/x"]);
  await response.body?.cancel();
  await expect(c.fetch("/", { redirect: "error" })).rejects.toThrow(TypeError);
  await until(() => outstanding(c) === 0 && b.open.size === 0);
});

test("what fetch itself refuses is refused once, and not blamed on an endpoint", async () => {
  const b = await backend((_, response) => response.end());
  const c = client([b.url], { retry: { max: 3 } });
  await expect(c.fetch("/", { method: "GET", body: "no" })).rejects.toThrow(TypeError);
  await expect(c.fetch("/", { headers: { "bad name": "x" } })).rejects.toThrow(TypeError);
  expect([b.opened, c.stats().endpoints[0]?.failures]).toEqual([0, 0]);
});

const BODIES: [string, () => RequestInit, string, string | undefined][] = [
  ["a string", () => ({ body: "text" }), "text", "text/plain;charset=UTF-8"],
  ["bytes", () => ({ body: new TextEncoder().encode("bytes") }), "bytes", undefined],
  [
    "an ArrayBuffer",
    () => ({ body: new TextEncoder().encode("buffer").buffer }),
    "buffer",
    undefined,
  ],
  [
    "URLSearchParams",
    () => ({ body: new URLSearchParams({ a: "1 2" }) }),
    "a=1+2",
    "application/x-www-form-urlencoded;charset=UTF-8",
  ],
  ["a Blob", () => ({ body: new Blob(["blob"], { type: "x/y" }) }), "blob", "x/y"],
  ["an empty string", () => ({ body: "" }), "", "text/plain;charset=UTF-8"],
  ["a stream", () => ({ body: new Blob(["stream"]).stream() }), "stream", undefined],
  [
    "an async iterable",
    () => ({
      body: (async function* () {
        yield new TextEncoder().encode("iter");
      })(),
    }),
    "iter",
    undefined,
  ],
];

test.each(BODIES)("%s arrives as it does with fetch", async (_, init, text, type) => {
  const b = await backend(async (request, response) => {
    response.end(JSON.stringify([await bodyOf(request), request.headers["content-type"] ?? null]));
  });
  const c = client([b.url]);
  const response = await c.fetch("/", { method: "POST", ...init() });
  expect(await response.json()).toEqual([text, type ?? null]);
});

test("a form of Node's own arrives as multipart", async () => {
  const b = await backend(async (request, response) => response.end(await bodyOf(request)));
  const c = client([b.url]);
  const body = new FormData();
  body.set("name", "bob");
  expect(await (await c.fetch("/", { method: "POST", body })).text()).toContain(
    'name="name"\r\n\r\nbob',
  );
  expect(b.requests[0]?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
});

test("a Request is sent with its method, headers, body and signal", async () => {
  const b = await backend(async (request, response) => {
    response.end(
      `${request.method} ${request.url} ${request.headers["x-a"]} ${await bodyOf(request)}`,
    );
  });
  const c = client([b.url]);
  const request = new Request(`${b.url}/r`, {
    method: "PUT",
    headers: { "x-a": "1" },
    body: "inside",
  });
  expect(await (await c.fetch(request)).text()).toBe("PUT /r 1 inside");
  await expect(c.fetch(request)).rejects.toThrow(TypeError);
  const reason = new Error("enough");
  const aborted = new Request(b.url, { signal: AbortSignal.abort(reason) });
  await expect(c.fetch(aborted)).rejects.toBe(reason);
});

test("a Request whose body comes slowly is streamed, not waited for", async () => {
  const b = await backend(async (request, response) => response.end(await bodyOf(request)));
  const c = client([b.url]);
  let sent = (_: string) => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      controller.enqueue(encoder.encode("first "));
      sent = (text) => {
        controller.enqueue(encoder.encode(text));
        controller.close();
      };
    },
  });
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const answer = c.fetch(new Request(b.url, init));
  // It has arrived although the body has not ended.
  await until(() => b.requests.length === 1);
  sent("second");
  expect(await (await answer).text()).toBe("first second");
});

test("headers of every form are sent", async () => {
  const b = await backend((request, response) => response.end(String(request.headers["x-a"])));
  const c = client([b.url]);
  const forms = [{ "x-a": "1" }, [["x-a", "1"]] as [string, string][], new Headers({ "x-a": "1" })];
  for (const headers of forms) expect(await (await c.fetch("/", { headers })).text()).toBe("1");
});

test("a caller's abort rejects with the caller's own reason, before the headers and in the body", async () => {
  const b = await backend((request, response) => {
    if (request.url === "/body") response.write("some");
  });
  const c = client([b.url]);
  const reason = { mine: true };
  const first = new AbortController();
  const waiting = c.fetch("/", { signal: first.signal });
  await until(() => b.requests.length === 1);
  first.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  const second = new AbortController();
  const response = await c.fetch("/body", { signal: second.signal });
  const reading = response.text();
  second.abort(reason);
  await expect(reading).rejects.toBe(reason);
  await until(() => outstanding(c) === 0 && b.open.size === 0);
});

test("the first attempt bears no mark but the deadline, which is less than the call was given", async () => {
  const b = await backend((_, response) => response.end());
  const c = client([b.url], { deadlineMs: 5000 });
  const headers = { "bobtail-attempt": "9;kind=tied", "Bobtail-Deadline-Ms": "999999" };
  await c.fetch("/", { headers });
  const seen = b.requests[0]?.headers ?? {};
  expect(seen["bobtail-attempt"]).toBeUndefined();
  expect(seen["bobtail-no-hedge"]).toBeUndefined();
  expect(Number(seen["bobtail-deadline-ms"])).toBeLessThan(5000);
  await c.fetch("/", { headers: { "bobtail-no-hedge": "1" } });
  expect(b.requests[1]?.headers["bobtail-no-hedge"]).toBe("1");
});
