import type { Command } from "commander";
import type { PolicyReading } from "../policy-file/load-policy.ts";
import type { Problem } from "../policy-file/problem.ts";
import type { ProxyConfig } from "../proxy/config.ts";
import { EXIT } from "../terminal/failure.ts";

/** `bobtail check`: validates policy files, for people and for CI. */
export function addCheckCommand(program: Command): void {
  program
    .command("check")
    .summary("validate policy files")
    .description("Validates policy files and reports every mistake with its place and a remedy.")
    .argument("<file...>", "policy files in YAML or JSON; - reads standard input")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  bobtail check bobtail.yaml
  bobtail check policies/*.yaml --json

Exit codes: 0 every file is valid, 2 at least one is not.`,
    )
    .action(async (files: readonly string[], options: { json?: boolean }) => {
      const { loadPolicy } = await import("../policy-file/load-policy.ts");
      const readings = files.map((file) => ({ file, reading: loadPolicy(file) }));
      if (readings.some(({ reading }) => !reading.ok)) process.exitCode = EXIT.usage;
      process.stdout.write(
        options.json === true ? `${reportJson(readings)}\n` : await reportText(readings),
      );
    });
}

interface Checked {
  readonly file: string;
  readonly reading: PolicyReading;
}

async function reportText(readings: readonly Checked[]): Promise<string> {
  const { formatProblems } = await import("../policy-file/problem.ts");
  const { paletteFor } = await import("../terminal/palette.ts");
  const palette = paletteFor(process.stdout);
  let text = "";
  for (const { file, reading } of readings) {
    if (reading.ok) {
      text += `${file}: ${palette.green("ok")}, ${summary(reading.config)}\n`;
      continue;
    }
    const count = plural(reading.problems.length, "mistake");
    text += `${formatProblems(reading.problems, palette)}\n\n${file}: ${palette.red(count)}\n`;
  }
  return text;
}

function summary(config: ProxyConfig): string {
  const services = Object.values(config.services);
  const endpoints = services.reduce((sum, service) => sum + service.endpoints.length, 0);
  return [
    plural(config.listeners.length, "listener"),
    plural(services.length, "service"),
    plural(endpoints, "endpoint"),
  ].join(", ");
}

function reportJson(readings: readonly Checked[]): string {
  const files = readings.map(({ file, reading }) => ({
    file,
    ok: reading.ok,
    problems: reading.ok ? [] : reading.problems.map(problemJson),
  }));
  const ok = files.every((file) => file.ok);
  return JSON.stringify({ schema: "bobtail.check/1", ok, files }, null, 2);
}

function problemJson({ line, column, path, reason, remedy }: Problem): Record<string, unknown> {
  return { line, column, path, reason, remedy };
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
