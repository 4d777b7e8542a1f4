import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { CommandFailure } from "../terminal/failure.ts";
import { collect } from "./collect.ts";

const DEFAULT_FILE = "bobtail.yaml";

/** `bobtail init`: a commented policy file to start from. */
export function addInitCommand(program: Command): void {
  program
    .command("init")
    .summary("write a starter policy file")
    .description("Writes a commented policy file to start from. An existing file is left alone.")
    .argument("[file]", "where to write it; - is standard output", DEFAULT_FILE)
    .option("--to <url>", "an endpoint; give it once for each", collect)
    .option("--force", "overwrite an existing file")
    .addHelpText(
      "after",
      `
Examples:
  bobtail init
  bobtail init search.yaml --to http://10.0.0.1:8080 --to http://10.0.0.2:8080
  bobtail init - | less`,
    )
    .action(async (file: string, options: { to?: readonly string[]; force?: boolean }) => {
      const { starterPolicy } = await import("../policy-file/starter-policy.ts");
      const text = starterPolicy(await readEndpoints(options.to ?? []));
      if (file === "-") {
        process.stdout.write(text);
        return;
      }
      writeNew(file, text, options.force === true);
      process.stderr.write(
        `Wrote ${file}. Next: edit its endpoints, then \`bobtail proxy --config ${file}\`.\n`,
      );
    });
}

async function readEndpoints(written: readonly string[]): Promise<string[]> {
  const { readEndpointUrl } = await import("../policy-file/endpoint-url.ts");
  const urls: string[] = [];
  for (const text of written) {
    const url = readEndpointUrl(text);
    if (!url.ok) throw new CommandFailure(`--to: ${url.reason}`, url.remedy);
    if (urls.includes(url.value)) {
      throw new CommandFailure(`--to: ${url.value} is given twice`, "Remove one of them.");
    }
    urls.push(url.value);
  }
  return urls;
}

function writeNew(file: string, text: string, force: boolean): void {
  try {
    writeFileSync(file, text, { flag: force ? "w" : "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    if (code === "EEXIST") {
      throw new CommandFailure(
        `${file} exists`,
        "Name another file, or overwrite it with --force.",
      );
    }
    const reason = code === "ENOENT" ? "its folder does not exist" : code;
    throw new CommandFailure(`${file} cannot be written: ${reason}`, "Name another file.");
  }
}
