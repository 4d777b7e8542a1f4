import type { Command } from "commander";
import { numberIn, wholeNumber } from "../sim/sim-flags.ts";
import { paletteFor } from "../terminal/palette.ts";
import type { DemoReport } from "./demo-report.ts";

interface DemoFlags {
  readonly seconds: number;
  readonly rate?: number;
  readonly seed: number;
  readonly stalls?: boolean;
  readonly hedge: boolean;
  readonly json?: boolean;
}

const SIGNAL_EXITS = { SIGINT: 130, SIGTERM: 143 } as const;

/** `bobtail demo`. The result goes to stdout, everything else to stderr. */
export function addDemoCommand(program: Command): void {
  program
    .command("demo")
    .summary("see a sick backend, and a short tail")
    .description(
      "Starts ten HTTP servers of which one is five times slower, yet healthy by every check, and sends them the " +
        "same load twice through the proxy: in turn, then by Bobtail's policy. Prints one table. Loopback only.",
    )
    .option(
      "--seconds <n>",
      "what is measured of each phase, after a warm-up",
      numberIn(1, 3_600),
      15,
    )
    .option("--rate <n>", "requests a second; default 70 % of the fleet", numberIn(0.1, 100_000))
    .option("--seed <n>", "of service times and arrivals", wholeNumber, 1)
    .option("--stalls", "1 % of requests take 50 to 150 ms longer, on every backend")
    .option("--no-hedge", "balance only: send no second copies")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  bobtail demo                         a minute, two rows, one sentence
  bobtail demo --stalls                short stalls everywhere too: balancing cannot help there, hedging can
  bobtail demo --stalls --no-hedge     the same without hedging`,
    )
    .action((flags: DemoFlags) => demo(flags));
}

async function demo(flags: DemoFlags): Promise<void> {
  // Loaded here: the help of every command should not wait for undici.
  const { runDemo } = await import("./demo.ts");
  const { liveLine } = await import("./live-line.ts");
  const line = liveLine(process.stderr);
  const stop = new AbortController();
  const onSignal = (signal: keyof typeof SIGNAL_EXITS): void => {
    process.exitCode = SIGNAL_EXITS[signal];
    // Asked twice: leave at once. The fleet's process follows its parent.
    if (stop.signal.aborted) process.exit();
    stop.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  try {
    const report = await runDemo({
      seconds: flags.seconds,
      ratePerSec: flags.rate,
      seed: flags.seed,
      stalls: flags.stalls,
      hedge: flags.hedge,
      signal: stop.signal,
      onProgress: (progress) => line.show(progress),
    });
    line.end();
    await print(report, flags.json === true);
  } finally {
    line.end();
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

async function print(report: DemoReport, asJson: boolean): Promise<void> {
  if (asJson) {
    const { demoJson } = await import("./demo-report.ts");
    process.stdout.write(`${JSON.stringify(demoJson(report), null, 2)}\n`);
  } else {
    const { demoText } = await import("./demo-text.ts");
    process.stdout.write(demoText(report, paletteFor(process.stdout)));
  }
}
