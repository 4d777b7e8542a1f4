import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { type Problem, problemAt, problemOfFile } from "./problem.ts";
import { createSourceText, type SourceText } from "./source-text.ts";

/** Policy files are a few KiB; a larger one is another kind of file. */
export const MAX_SOURCE_BYTES = 1_048_576;

export type SourceReading =
  | { readonly ok: true; readonly source: SourceText }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads a file, or standard input for `-`. Everything that can go wrong is a problem, never a throw. */
export function readSource(file: string): SourceReading {
  const name = file === "-" ? "<stdin>" : file;
  let descriptor = 0;
  try {
    if (file !== "-") descriptor = openSync(file, "r");
    const kind = fstatSync(descriptor);
    if (kind.isDirectory()) return fail(name, "this is a directory", "Name a file inside it.");
    const bytes = readUpTo(descriptor, MAX_SOURCE_BYTES + 1);
    return decodeSource(name, bytes);
  } catch (error) {
    return fail(name, ...explainReadError(error));
  } finally {
    if (descriptor > 0) closeSync(descriptor);
  }
}

/** UTF-8, with or without a byte order mark. */
export function decodeSource(file: string, bytes: Uint8Array): SourceReading {
  if (bytes.length > MAX_SOURCE_BYTES) {
    return fail(file, "larger than 1 MiB", "Is this a policy file? Split it, or name another one.");
  }
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return fail(file, "encoded as UTF-16", "Save it as UTF-8.");
  }
  const text = new TextDecoder("utf-8").decode(bytes);
  const source = createSourceText(file, text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  const control = text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/);
  if (control !== -1) {
    const code = text.charCodeAt(control).toString(16).padStart(2, "0");
    return failAt(source, control, `control character 0x${code}: this is not a text file`);
  }
  const broken = isUtf8(bytes) ? -1 : text.indexOf("\ufffd");
  if (broken !== -1) return failAt(source, broken, "not valid UTF-8");
  return { ok: true, source };
}

function readUpTo(descriptor: number, maxBytes: number): Uint8Array {
  const buffer = Buffer.alloc(maxBytes);
  let length = 0;
  while (length < maxBytes) {
    const count = readSync(descriptor, buffer, length, maxBytes - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function explainReadError(error: unknown): [reason: string, remedy: string] {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  if (code === "ENOENT") {
    return ["no such file", "Check the name, or write a starter file with `bobtail init`."];
  }
  if (code === "EACCES" || code === "EPERM") {
    return ["permission denied", "Give this user the right to read it."];
  }
  if (code === "EISDIR") return ["this is a directory", "Name a file inside it."];
  return [`it cannot be read (${code})`, "Check that it is a readable file."];
}

function fail(file: string, reason: string, remedy: string): SourceReading {
  return { ok: false, problems: [problemOfFile(file, reason, remedy)] };
}

function failAt(source: SourceText, offset: number, reason: string): SourceReading {
  const complaint = { reason, remedy: "Save it as plain text in UTF-8." };
  return { ok: false, problems: [problemAt(source, offset, offset + 1, complaint)] };
}
