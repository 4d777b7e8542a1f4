#!/usr/bin/env node
import { CommanderError } from "commander";
import { createProgram } from "./commands/program.ts";
import { EXIT, formatFailure } from "./terminal/failure.ts";

// A reader that goes away (`| head`), or a disk that is full, ends our output, not our work.
process.stderr.on("error", () => {});
process.stdout.once("error", explainLostOutput);
process.stdout.on("error", () => {});

function explainLostOutput({ code = "unknown error" }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") return;
  process.exitCode = EXIT.internal;
  process.stderr.write(`bobtail: error: standard output cannot be written (${code})\n`);
}

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed the message. Its own code for every mistake is 1; here 1 is a defect of ours.
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  } else {
    const { paletteFor } = await import("./terminal/palette.ts");
    process.stderr.write(`${formatFailure(error, paletteFor(process.stderr))}\n`);
    process.exitCode =
      error instanceof Error && "exitCode" in error ? Number(error.exitCode) : EXIT.internal;
  }
}
