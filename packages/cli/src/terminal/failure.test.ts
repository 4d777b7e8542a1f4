import { expect, test } from "vitest";
import { CommandFailure, EXIT, explainStartError, formatFailure } from "./failure.ts";
import { createPalette, paletteFor } from "./palette.ts";

const plain = createPalette(false);
const systemError = (fields: object) => Object.assign(new Error("bind"), fields);

test("a failure that the user can mend is told with its remedy, without a stack", () => {
  expect(formatFailure(new CommandFailure("no", "Do this."), plain)).toBe(
    "bobtail: error: no\n  Do this.",
  );
});

test("what a failure quotes neither commands the terminal nor shows a password", () => {
  const failure = new CommandFailure("ftp://me:s3cret@host/ \u001b[2J:\n  next", "Mend \u009b1m.");
  expect(formatFailure(failure, plain)).toBe(
    "bobtail: error: ftp://*********@host/ \\u001b[2J:\n  next\n  Mend \\u009b1m.",
  );
});

test("any other failure is a defect of ours and keeps its stack", () => {
  const text = formatFailure(new TypeError("boom"), plain);
  expect(text).toMatch(/internal error, please report it:\nTypeError: boom\n\s+at /);
});

test.each([
  [{ code: "EADDRINUSE", address: "::1", port: 80 }, "[::1]:80 is taken by another program"],
  [{ code: "EACCES", address: "0.0.0.0", port: 80 }, "this user may not listen on 0.0.0.0:80"],
  [{ code: "EADDRNOTAVAIL", address: "10.9.9.9", port: 1 }, "10.9.9.9:1 is not an address of this"],
  [{ code: "ENOTFOUND", hostname: "no.where" }, "the host name no.where cannot be resolved"],
])("an address that cannot be bound is a mistake of usage: %o", (fields, message) => {
  const failure = explainStartError(systemError(fields));
  expect(failure).toBeInstanceOf(CommandFailure);
  expect(failure).toMatchObject({
    exitCode: EXIT.usage,
    message: expect.stringContaining(message),
    remedy: expect.stringMatching(/./),
  });
});

test("other errors are passed on as they are", () => {
  const error = systemError({ code: "EIO" });
  expect(explainStartError(error)).toBe(error);
});

test("colour is for terminals and for those who force it; NO_COLOR and a dumb terminal refuse it", () => {
  const coloured = (isTTY: boolean, env: Record<string, string>) =>
    paletteFor({ isTTY }, env).red("x") !== "x";
  expect(coloured(true, {})).toBe(true);
  expect(coloured(false, {})).toBe(false);
  expect(coloured(false, { FORCE_COLOR: "1" })).toBe(true);
  expect(coloured(false, { FORCE_COLOR: "0" })).toBe(false);
  expect(coloured(true, { NO_COLOR: "1", FORCE_COLOR: "1" })).toBe(false);
  expect(coloured(true, { NO_COLOR: "" })).toBe(true);
  expect(coloured(true, { TERM: "dumb" })).toBe(false);
});
