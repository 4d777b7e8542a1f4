import { type Palette, paletteFor } from "../../terminal/palette.ts";
import { stopOnSignal } from "../../terminal/stop-on-signal.ts";
import { checkOutFiles } from "../output/out-files.ts";
import { putOutResult } from "../output/put-out-result.ts";
import { type LoadResult, runsOf } from "../output/run-record.ts";
import { limitEnd, probeRow, sweepEnd, sweepHead, sweepRow } from "../output/sweep-text.ts";
import { exitCodeOf } from "./exit-code.ts";
import { findLimit } from "./find-limit.ts";
import type { LoadFlags } from "./load-flags.ts";
import { type LoadRequest, readRequest } from "./load-request.ts";
import { runOnce } from "./run-once.ts";
import { type RunAt, sweep } from "./sweep.ts";
import { tellUnanswered } from "./tell-unanswered.ts";

/** `bobtail load`: measures, prints, writes. A signal ends it with what there is; a second one at once. */
export async function load(
  urls: readonly string[],
  flags: LoadFlags,
  version: string,
): Promise<void> {
  const kind =
    flags.sweep !== undefined ? "sweep" : flags.findLimit !== undefined ? "limit" : "run";
  checkOutFiles(flags.out ?? [], kind);
  const request = await readRequest(urls, flags);
  const stop = stopOnSignal();
  try {
    const { signal } = stop;
    const rows = rowsOf(flags);
    const result = await measure(request, flags, { signal, version, rows });
    const { json, out } = flags;
    await putOutResult(result, { json, out, version, isTold: result.kind !== "run" });
    tellUnanswered(runsOf(result));
    // A signal has set its own.
    process.exitCode ??= exitCodeOf(result);
  } finally {
    stop.release();
  }
}

/** What is printed while several runs are made. */
interface Rows {
  readonly palette: Palette;
  print(text: string): void;
}

function rowsOf({ json }: LoadFlags): Rows {
  return {
    palette: paletteFor(process.stdout),
    print(text) {
      if (json !== true) process.stdout.write(`${text}\n`);
    },
  };
}

async function measure(
  request: LoadRequest,
  flags: LoadFlags,
  {
    signal,
    version,
    rows,
  }: { readonly signal: AbortSignal; readonly version: string; readonly rows: Rows },
): Promise<LoadResult> {
  const { failIf, sweep: rates, findLimit: objective } = flags;
  const common = { signal, version, isQuiet: flags.quiet === true, failIf };
  const { palette, print } = rows;
  if (rates !== undefined) {
    const runAt: RunAt = (one, { index, ratePerSec }) => {
      const label = `load ${index + 1} of ${rates.length}, ${ratePerSec}/s`;
      return runOnce(one, { ...common, label });
    };
    print(sweepHead(palette));
    const onRow = (run: LoadRun): void => print(sweepRow(run, palette));
    const record = await sweep(request, rates, { runAt, onRow, signal });
    print(sweepEnd(record, palette));
    return record;
  }
  if (objective !== undefined) {
    const runAt: RunAt = (one, { index, ratePerSec }) =>
      runOnce(one, { ...common, label: `load probe ${index + 1}, ${ratePerSec}/s` });
    const onProbe = (probe: Parameters<typeof probeRow>[0]): void =>
      print(probeRow(probe, palette));
    const record = await findLimit(request, objective, { runAt, onProbe, signal });
    print(limitEnd(record, palette));
    return record;
  }
  return { kind: "run", run: await runOnce(request, { ...common, label: "load" }) };
}

type LoadRun = Parameters<typeof sweepRow>[0];
