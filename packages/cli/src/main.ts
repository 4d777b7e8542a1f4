#!/usr/bin/env node
import { CommanderError } from "commander";
import { createProgram } from "./commands/program.ts";
import { EXIT, formatFailure } from "./terminal/failure.ts";

// A reader that goes away (`| head`) ends our output, not our work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
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
