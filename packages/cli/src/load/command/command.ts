import type { Command } from "commander";
import {
  addCompareOptions,
  COMPARE_HELP,
  type CompareFlags,
  isComparison,
} from "../compare/compare-flags.ts";
import { collectConditions } from "./condition.ts";
import { addOutputOptions, addResultOptions, addRunOptions, type LoadFlags } from "./load-flags.ts";
import type { ReportFlags } from "./load-report-command.ts";

/** `bobtail load`: open-loop load that is timed from when each request should have been sent. */
export function addLoadCommand(program: Command): void {
  const command = program
    .command("load")
    .enablePositionalOptions()
    .summary("measure what users would feel")
    .description(
      "Sends requests at planned moments, whether the target keeps up or not, and times them from those moments. Failed requests " +
        "count in the percentiles. Without options: 50 a second for 10 s, as independent users come.",
    )
    .argument("[url...]", "what is asked for; several are drawn by --weights");
  addRunOptions(command);
  addResultOptions(command);
  addCompareOptions(command);
  command
    .addHelpText("after", HELP)
    .action(async (urls: readonly string[], flags: LoadFlags & CompareFlags) => {
      const version = program.version() ?? "unknown";
      if (isComparison(flags)) {
        const { compare } = await import("../compare/compare-command.ts");
        return compare(urls, flags, version);
      }
      const { load } = await import("./load.ts");
      return load(urls, flags, version);
    });
  addReportCommand(command, program);
}

function addReportCommand(command: Command, program: Command): void {
  const report = command
    .command("report")
    .summary("stored results again: other forms, side by side, merged")
    .description(
      "Reads what `bobtail load --out` wrote (.json or .hlog). One file is shown again, several side by side.",
    )
    .argument("<file...>", "results of `bobtail load`")
    .option("--merge", "runs of one set-up become one: their histograms are added")
    .option(
      "--fail-if <condition>",
      "judge by these conditions; may be repeated",
      collectConditions,
    );
  addOutputOptions(report);
  report.action(async (files: readonly string[], flags: ReportFlags) => {
    const { loadReport } = await import("./load-report-command.ts");
    await loadReport(files, flags, program.version() ?? "unknown");
  });
}

const HELP = `
Examples:
  bobtail load http://127.0.0.1:8080/
  bobtail load http://127.0.0.1:8080/ --rate 500 --duration 60s --out run.json --out run.html
  bobtail load http://127.0.0.1:8080/ --sweep 50..2000 --fail-if 'p99>50ms'
  bobtail load http://127.0.0.1:8080/ --find-limit 'p99<50ms'
  bobtail load report monday.json tuesday.json
${COMPARE_HELP}
Times have units: 500ms, 2s, 5m, 1h. Load goes to loopback and private addresses
alone, unless you say --i-own-this.

Exit codes:
  0         ok
  2         usage
  3         a --fail-if came true, no rate keeps the objective, or not one
            request was answered well
  4         worse than what it was compared with
  5         the generator was the bottleneck, or the sample is too small
  130, 143  on signals, with the report of what was done`;
