import { expect, test } from "vitest";
import { addressOf } from "./address.ts";

test.each([
  ["http://127.0.0.1", 80],
  ["https://127.0.0.1", 443],
  ["http://127.0.0.1:8080", 8080],
  // Written, and nobody's: not the port of somebody else.
  ["http://127.0.0.1:0", 0],
])("%s is port %i", (origin, port) => {
  expect(addressOf(origin, { tls: {}, addresses: {}, openTimeoutMs: 1 }).port).toBe(port);
});
