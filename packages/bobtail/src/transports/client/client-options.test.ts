import { expect, test } from "vitest";
import { type BobtailError, isBobtailError } from "../../core/errors.ts";
import { virtualTime } from "../testing/virtual-time.ts";
import { createClient } from "./client.ts";

const endpoints = ["http://a"];
const time = virtualTime();

/** Options that must be refused, and the name that the error gives. */
const MISTAKES: readonly (readonly [option: string, options: unknown])[] = [
  ["options", undefined],
  ["endpoints", {}],
  ["endpoints", { endpoints: "http://a" }],
  ["endpoints[1].url", { endpoints: ["http://a", "10.0.0.1:8080"] }],
  ["endpoints[0].url", { endpoints: ["ftp://a"] }],
  ["endpoints[0].url", { endpoints: [{ url: "http://a/path" }] }],
  ["endpoints[0].url", { endpoints: ["http://a?q=1"] }],
  ["endpoints[0].url", { endpoints: ["http://user:secret@a"] }],
  ["endpoints[0].wieght", { endpoints: [{ url: "http://a", wieght: 2 }] }],
  ["endpoints[0]", { endpoints: [7] }],
  ["endpoints[0].name", { endpoints: [{ target: 1 }] }],
  ["endpoints", { endpoints: ["http://a", { name: "b", target: 1 }] }],
  ["endpoints", { endpoints: ["http://a", "http://a/"] }],
  ["endpoint.weight", { endpoints: [{ url: "http://a", weight: 0 }] }],
  ["retrys", { endpoints, retrys: {} }],
  ["hedge.after", { endpoints, hedge: { after: 12 } }],
  ["hedge", { endpoints, hedge: true }],
  ["hedge.afterMs", { endpoints, hedge: { afterMs: 900 }, deadlineMs: 800 }],
  ["budget.ratio", { endpoints, budget: { ratio: 0.1 } }],
  ["balance.pick", { endpoints, balance: { pick: "least" } }],
  ["timeout.attempt", { endpoints, timeout: { attempt: 1 } }],
  ["timeout.attemptMs", { endpoints, timeout: { attemptMs: 0 } }],
  ["limit.max", { endpoints, limit: { max: 1 } }],
  ["deadlineMs", { endpoints, deadlineMs: Number.POSITIVE_INFINITY }],
  ["retry.max", { endpoints, retry: { max: 9 } }],
  ["name", { endpoints, name: "" }],
  ["seed", { endpoints, seed: 0.5 }],
  ["classify", { endpoints, classify: "failed" }],
  ["transport", { endpoints, transport: {} }],
  ["timers", { endpoints, clock: time }],
];

test.each(MISTAKES)(
  "a mistake in %s is refused with its name, its bound and its value",
  (option, options) => {
    let error: unknown;
    try {
      createClient(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(isBobtailError(error, "ERR_BOBTAIL_OPTION")).toBe(true);
    const { details, message } = error as BobtailError<"ERR_BOBTAIL_OPTION">;
    expect(details.option).toBe(option);
    expect(message.startsWith(`${option}: expected ${details.expected}, received `)).toBe(true);
  },
);

test.each([
  "http://user:secret@a",
  "ftp://user:secret@a",
  "http://user:sec/secret@a:99999",
  "user:secret@a",
])("no message repeats the credentials of a URL: %s", (url) => {
  let error: unknown;
  try {
    createClient({ endpoints: [url] });
  } catch (thrown) {
    error = thrown;
  }
  if (!isBobtailError(error, "ERR_BOBTAIL_OPTION")) throw error;
  expect(`${error.message} ${error.details.received}`).not.toContain("secret");
});

test("a set of endpoints of the other kind is refused, and the set before it stays", async () => {
  const client = createClient({ endpoints });
  expect(() => client.setEndpoints([{ name: "b", target: 1 }] as never)).toThrow(/expected URLs/);
  expect(() => client.setEndpoints([{ url: "http://b", weight: -1 }])).toThrow(/endpoint.weight/);
  expect(client.endpoints.map((e) => e.url)).toEqual(["http://a"]);
  await client.close();
});

test("fetch without a transport says what is missing", async () => {
  const client = createClient({ endpoints });
  await expect(client.fetch("/")).rejects.toMatchObject({
    code: "ERR_BOBTAIL_OPTION",
    details: { option: "transport" },
  });
});
