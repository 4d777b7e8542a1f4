import { expect, test } from "vitest";
import type { LoadOptions } from "../load-options.ts";
import { isUnanswered, nothingAnswered } from "./nothing-answered.ts";
import { inventedRun } from "./run-record.testbed.ts";

const refused = (kind: string, options?: Partial<LoadOptions>) => {
  const run = inventedRun({ outcome: () => "refused", ...(options && { options }) });
  run.measured.failures.clear();
  run.measured.failures.set(kind, run.measured.ledger.transportErrors);
  return nothingAnswered(run);
};

test.each([
  ["ECONNREFUSED", "its port"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "http://"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "--insecure"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "--ca FILE"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "--ca FILE"],
  ["ECONNRESET", "address"],
])("a run in which everything failed with %s says what to look at", (kind, remedy) => {
  expect(refused(kind)).toContain(remedy);
});

test("that the target may not speak HTTP/2 is said only where HTTP/2 was asked for", () => {
  expect(refused("ERR_HTTP2_ERROR", { protocol: "http2" })).toContain("Leave --http2 out");
  expect(refused("ERR_HTTP2_ERROR")).not.toContain("--http2");
});

test("a target that answers with errors or too late is not said to be down", () => {
  expect(nothingAnswered(inventedRun({ outcome: () => "http-error" }))).toContain(
    "target runs, and its answers are errors (status 503)",
  );
  expect(nothingAnswered(inventedRun({ outcome: () => "timeout" }))).toContain("too late or never");
});

test("one good answer is enough to say nothing", () => {
  const outcome = (i: number) => (i === 5 ? 2 : "refused");
  expect(nothingAnswered(inventedRun({ outcome }))).toBeUndefined();
});

test("answers that were to be event streams and held no event are told", () => {
  const run = inventedRun({ options: { sse: true } });
  expect(nothingAnswered(run)).toBeUndefined();
  run.measured.firstByte.reset();
  expect(nothingAnswered(run)).toContain("Leave --sse out");
});

test("runs are unanswered together: one good answer in one of them is enough, and none sent is no answer missed", () => {
  const refused = inventedRun({ outcome: () => "refused" });
  expect(isUnanswered([refused, refused])).toBe(true);
  expect(isUnanswered([inventedRun(), refused])).toBe(false);
  expect(isUnanswered([inventedRun({ outcome: () => "unsent" })])).toBe(false);
  expect(isUnanswered([])).toBe(false);
});
