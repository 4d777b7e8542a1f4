import fc from "fast-check";
import { expect, test } from "vitest";
import { isBobtailError } from "../../core/errors.ts";
import { bodyOf, pathOf, planFetch, requestBodyOf } from "./fetch-request.ts";

const HERE = "http://10.0.0.1:8080";
const isEndpoint = (origin: string) => origin === HERE;

test("whatever the input, the path stays on the endpoint or the input is refused", () => {
  const pieces = fc.constantFrom(
    "/",
    "//",
    "\\",
    "..",
    ".",
    "@",
    ":",
    "?",
    "#",
    "a",
    "%2e",
    " ",
    "\t",
  );
  const inputs = fc.array(fc.oneof(pieces, fc.string()), { maxLength: 12 }).map((p) => p.join(""));
  fc.assert(
    fc.property(inputs, (input) => {
      let path: string;
      try {
        path = pathOf(input, isEndpoint);
      } catch (error) {
        const refused = isBobtailError(error, "ERR_BOBTAIL_FOREIGN_ORIGIN");
        expect(refused || error instanceof TypeError).toBe(true);
        return;
      }
      // As it is used: pasted after an origin.
      expect(new URL(HERE + path).origin).toBe(HERE);
    }),
    { numRuns: 2000 },
  );
});

test("idempotent is by option, else by method, else by an idempotency key", () => {
  const of = (init: object) => planFetch("/", init, isEndpoint).idempotent;
  expect(["GET", "head", "OPTIONS"].map((method) => of({ method }))).toEqual([true, true, true]);
  expect(["POST", "PUT", "DELETE", "PATCH"].some((method) => of({ method }))).toBe(false);
  expect(of({ method: "POST", headers: { "Idempotency-Key": "k" } })).toBe(true);
  expect(of({ method: "POST", headers: new Headers({ "idempotency-key": "k" }) })).toBe(true);
  expect(of({ method: "POST", idempotent: true })).toBe(true);
  expect(of({ method: "GET", idempotent: false })).toBe(false);
});

test("what is in memory can be sent again, what flows cannot", () => {
  const inMemory = [
    "",
    "text",
    new Uint8Array(3),
    new ArrayBuffer(3),
    new URLSearchParams(),
    new Blob([]),
  ];
  const flowing = [new Blob(["x"]).stream(), new FormData(), (async function* () {})()];
  expect(inMemory.map((body) => bodyOf(body).replayable)).toEqual(Array(6).fill(true));
  expect(flowing.map((body) => bodyOf(body).replayable)).toEqual(Array(3).fill(false));
  expect([undefined, null].map((body) => bodyOf(body).value)).toEqual([null, null]);
});

test("a Request's body is kept up to the limit, and passed on whole beyond it", async () => {
  const sizes = [0, 1, 99, 100, 101, 100_000];
  for (const sizeBytes of sizes) {
    const text = "x".repeat(sizeBytes);
    const request = new Request(HERE, { method: "POST", body: text });
    const body = await requestBodyOf(request, 100);
    expect(body.replayable).toBe(sizeBytes <= 100);
    expect(await new Response(body.value as Uint8Array<ArrayBuffer>).text()).toBe(text);
  }
});
