import { expect, test } from "vitest";
import { BobtailError, checkOption, isBobtailError } from "./errors.ts";

function errorOf(run: () => void): BobtailError<"ERR_BOBTAIL_OPTION"> {
  try {
    run();
  } catch (error) {
    if (isBobtailError(error, "ERR_BOBTAIL_OPTION")) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

test("a bad option names itself, its range and the value received", () => {
  const error = errorOf(() => checkOption({ "budget.extraRatio": 5 }, "a ratio in [0, 2]", false));
  expect(error.message).toBe("budget.extraRatio: expected a ratio in [0, 2], received 5");
  expect(error.details).toEqual({
    option: "budget.extraRatio",
    expected: "a ratio in [0, 2]",
    received: 5,
  });
});

test("a good option passes in silence", () => {
  expect(() => checkOption({ deadlineMs: 1 }, "ms above 0", true)).not.toThrow();
});

test.each([
  [Number.NaN, "NaN"],
  [Number.POSITIVE_INFINITY, "Infinity"],
  [12n, "12"],
  ["12 ms", '"12 ms"'],
  [undefined, "undefined"],
  [null, "null"],
  [() => 1, "a function"],
  [{ a: 1 }, '{"a":1}'],
  [Symbol("s"), "Symbol(s)"],
])("the message shows %s as %s", (received, shown) => {
  expect(errorOf(() => checkOption({ x: received }, "y", false)).message).toBe(
    `x: expected y, received ${shown}`,
  );
});

test("a value that holds itself is refused by its option's name too", () => {
  const received: Record<string, unknown> = {};
  received.self = received;
  const error = errorOf(() => checkOption({ x: received }, "less", false));
  expect(error.message).toBe("x: expected less, received [object Object]");
});

test("a huge value is cut short in the message and whole in the details", () => {
  const received = "a".repeat(10_000);
  const error = errorOf(() => checkOption({ x: received }, "less", false));
  expect(error.message.length).toBeLessThan(120);
  expect(error.details.received).toBe(received);
});

test("errors are recognised by code, so a second copy of the package is understood too", () => {
  const foreign = Object.assign(new Error("x"), { code: "ERR_BOBTAIL_CLOSED", details: {} });
  expect(isBobtailError(foreign, "ERR_BOBTAIL_CLOSED")).toBe(true);
  expect(isBobtailError(foreign, "ERR_BOBTAIL_SHED")).toBe(false);
  expect(isBobtailError(new Error("x"), "ERR_BOBTAIL_CLOSED")).toBe(false);
  expect(isBobtailError({ code: "ERR_BOBTAIL_CLOSED" }, "ERR_BOBTAIL_CLOSED")).toBe(false);
  expect(isBobtailError(undefined, "ERR_BOBTAIL_CLOSED")).toBe(false);
});

test("the cause is kept when there is one, and absent when there is none", () => {
  const cause = new Error("socket");
  const details = { what: "client" };
  const withCause = new BobtailError("ERR_BOBTAIL_CLOSED", "closed", details, cause);
  const without = new BobtailError("ERR_BOBTAIL_CLOSED", "closed", details);
  expect(withCause.cause).toBe(cause);
  expect("cause" in without).toBe(false);
  expect([withCause.name, withCause.code, withCause.details]).toEqual([
    "BobtailError",
    "ERR_BOBTAIL_CLOSED",
    details,
  ]);
});
