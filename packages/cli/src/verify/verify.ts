import { parseArgs } from "node:util";
import { isMainThread } from "node:worker_threads";
import { CommandFailure, EXIT, formatFailure } from "../terminal/failure.ts";
import { paletteFor } from "../terminal/palette.ts";
import { groupChecks } from "./check-groups.ts";
import { checks } from "./checks.ts";
import { comingRows } from "./coming-rows.ts";
import { runChecks, type Verdict } from "./run-checks.ts";
import { type VerifyReport, verifyJson, verifyText } from "./verify-report.ts";
import { serveChecks, workerLane } from "./worker-lane.ts";

const HELP = `npm run verify -- [--quick] [--json] [--only 1,5,36] [--workers 2]

Computes every row of the acceptance list and compares it with what theory or an independent
simulation says. Exit codes: 0 every row holds, 1 one does not, 2 usage.
`;

/** Runs the acceptance list. @param entry - the script that called, which is the thread's script too. */
export async function verifyMain(entry: URL, args: readonly string[]): Promise<void> {
  if (!isMainThread) return serveChecks();
  try {
    await verify(entry, args);
  } catch (error) {
    process.stderr.write(`${formatFailure(error, paletteFor(process.stderr))}\n`);
    process.exitCode = error instanceof CommandFailure ? error.exitCode : EXIT.internal;
  }
}

async function verify(entry: URL, args: readonly string[]): Promise<void> {
  const flags = readFlags(args);
  if (flags.help) {
    process.stdout.write(HELP);
    return;
  }
  const { quick, only } = flags;
  const groups = groupChecks(checks, { quick, only });
  const lanes = Array.from({ length: Math.min(flags.workers, groups.length) }, () =>
    workerLane(entry),
  );
  const startMs = performance.now();
  const count = groups.reduce((sum, group) => sum + group.length, 0);
  let done = 0;
  const onVerdict = ({ index, holds, wallMs }: Verdict): void => {
    done++;
    const word = holds ? "pass" : "FAIL";
    const seconds = (wallMs / 1000).toFixed(1);
    process.stderr.write(`${done}/${count} ${word} ${checks[index]?.id} (${seconds} s)\n`);
  };
  const verdicts = await runChecks({ groups, lanes, quick, onVerdict });
  const coming = comingRows.filter(({ row }) => only === undefined || only.includes(row));
  const report: VerifyReport = {
    checks,
    verdicts,
    coming,
    quick,
    wallMs: performance.now() - startMs,
  };
  process.stdout.write(
    flags.json
      ? `${JSON.stringify(verifyJson(report), null, 2)}\n`
      : verifyText(report, paletteFor(process.stdout)),
  );
  if (verdicts.some((verdict) => !verdict.holds)) process.exitCode = EXIT.internal;
}

interface VerifyFlags {
  readonly help: boolean;
  readonly json: boolean;
  readonly quick: boolean;
  readonly only: readonly number[] | undefined;
  readonly workers: number;
}

function readFlags(args: readonly string[]): VerifyFlags {
  const { values } = parse(args);
  const { help = false, json = false, quick = false } = values;
  const workers = Number(values.workers ?? "2");
  if (!Number.isInteger(workers) || workers < 1 || workers > 64)
    throw new CommandFailure("--workers: expected a whole number from 1 to 64", HELP);
  return { help, json, quick, workers, only: readRows(values.only) };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", short: "h" },
        json: { type: "boolean" },
        quick: { type: "boolean" },
        only: { type: "string" },
        workers: { type: "string" },
      },
    });
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error), HELP);
  }
}

function readRows(written: string | undefined): number[] | undefined {
  if (written === undefined) return undefined;
  const known = new Set([...checks, ...comingRows].map(({ row }) => row));
  return written.split(",").map((text) => {
    const row = Number(text);
    if (text.trim() !== "" && known.has(row)) return row;
    throw new CommandFailure(`--only: no row ${JSON.stringify(text)}`, "Rows are 1 to 61.");
  });
}
