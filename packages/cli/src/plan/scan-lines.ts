import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { CommandFailure } from "../terminal/failure.ts";

/** A longer line is no log line. Its text is dropped, so that a file without line ends stays small in memory. */
const MAX_LINE_LENGTH = 1_048_576;

export interface LineScan {
  readonly signal?: AbortSignal | undefined;
  /** `undefined`: the line is longer than {@link MAX_LINE_LENGTH}. */
  onLine(text: string | undefined): void;
  /** After each piece of the file. */
  onBytes?(bytes: number): void;
}

/** Opens a file, or standard input for `-`. */
export function openLog(file: string): Readable {
  return file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 262_144 });
}

/** Calls back for every line, without its end, in order. One piece of the file is in memory at a time. */
export async function scanLines(file: string, input: Readable, scan: LineScan): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let isTooLong = false;
  const emit = (text: string): void => {
    if (isTooLong) scan.onLine(undefined);
    else scan.onLine(text.endsWith("\r") ? text.slice(0, -1) : text);
    isTooLong = false;
  };
  try {
    for await (const chunk of input) {
      if (scan.signal?.aborted === true) break;
      const bytes = chunk as Buffer;
      const text = rest + decoder.write(bytes);
      let from = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
        emit(text.slice(from, end));
        from = end + 1;
      }
      rest = text.slice(from);
      if (rest.length > MAX_LINE_LENGTH) {
        isTooLong = true;
        rest = "";
      }
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
