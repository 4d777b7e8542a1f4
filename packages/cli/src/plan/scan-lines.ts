import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { CommandFailure } from "../terminal/failure.ts";
import { unpacked } from "./unpack.ts";

/** A longer line is no log line. Its text is dropped, so that a file without line ends stays small in memory. */
const MAX_LINE_LENGTH = 1_048_576;

export interface LineScan {
  readonly signal?: AbortSignal | undefined;
  /** `undefined`: the line is longer than {@link MAX_LINE_LENGTH}. */
  onLine(text: string | undefined): void;
  /** After each piece of the file, unpacked. */
  onBytes?(bytes: number): void;
}

/** Opens a file, or standard input for `-`. */
export function openLog(file: string): Readable {
  return file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 262_144 });
}

/** Calls back for every line, without its end, in order; gzip is unpacked. One piece of the file is in memory at a time. */
export async function scanLines(file: string, input: Readable, scan: LineScan): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let isTooLong = false;
  let line = 0;
  const place = (): string => `${file === "-" ? "<stdin>" : file}:${line + 1}`;
  const emit = (text: string): void => {
    if (isTooLong) scan.onLine(undefined);
    else scan.onLine(text.endsWith("\r") ? text.slice(0, -1) : text);
    isTooLong = false;
    line++;
  };
  try {
    for await (const bytes of unpacked(input, place)) {
      if (scan.signal?.aborted === true) break;
      const text = rest + decoder.write(bytes);
      let from = 0;
      for (let end = text.indexOf("\n", rest.length); end !== -1; end = text.indexOf("\n", from)) {
        emit(text.slice(from, end));
        from = end + 1;
      }
      rest = text.slice(from);
      isTooLong ||= rest.length > MAX_LINE_LENGTH;
      if (isTooLong) rest = "";
      scan.onBytes?.(bytes.length);
    }
    rest += decoder.end();
    if (rest !== "" || isTooLong) emit(rest);
  } catch (error) {
    throw explainReadError(file, error);
  }
}

function explainReadError(file: string, error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "ENOENT":
      return new CommandFailure(`${file}: no such file`, "Check the name; - reads standard input.");
    case "EACCES":
    case "EPERM":
      return new CommandFailure(
        `${file}: permission denied`,
        "Give this user the right to read it.",
      );
    case "EISDIR":
      return new CommandFailure(`${file}: this is a directory`, "Name the files inside it.");
    case "":
      return error;
    default:
      return error instanceof CommandFailure
        ? error
        : new CommandFailure(`${file}: it cannot be read (${code})`, "Check that it is a file.");
  }
}
