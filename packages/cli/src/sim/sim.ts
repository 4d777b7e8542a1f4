import { existsSync } from "node:fs";
import { scenarioNamed } from "bobtail/sim";
import { formatProblems } from "../policy-file/problem.ts";
import { CommandFailure, EXIT } from "../terminal/failure.ts";
import { paletteFor } from "../terminal/palette.ts";
import { stopOnSignal } from "../terminal/stop-on-signal.ts";
import type { SimFlags } from "./command.ts";
import { loadScenario } from "./load-scenario.ts";
import { checkWritable, putOut, writeResult } from "./output.ts";
import { builtInNamed } from "./plan-built-in.ts";
import { progressLine } from "./progress-line.ts";
import { runPlan } from "./run-plan.ts";
import { tasksOf } from "./shard.ts";
import { shardFile } from "./shard-file.ts";
import type { SimJob } from "./sim-job.ts";
import { planJob } from "./sim-plan.ts";
import { reportOf } from "./sim-report.ts";

/** Plans, runs and prints. A signal ends it with what is done; a second one at once. */
export async function sim(scenario: string, flags: SimFlags, version: string): Promise<void> {
  checkFlags(flags);
  const source = readSource(scenario);
  if (source === undefined) return;
  const { set: sets = [], sweep: sweeps = [], runs, seed, scale, shard, out, workers } = flags;
  const job: SimJob = { source, sets, sweeps, runs, seed, scale };
  const plan = await planJob(job);
  checkWritable("--out", out);
  checkWritable("--html", flags.html);

  const tasks = tasksOf(plan, shard);
  const line = progressLine(process.stderr, () => performance.now());
  const stop = stopOnSignal();
  let results: Awaited<ReturnType<typeof runPlan>>;
  try {
    const onProgress = line.show.bind(line);
    results = await runPlan(plan, { tasks, workers, signal: stop.signal, onProgress });
  } finally {
    line.end();
    stop.release();
  }
  if (shard === undefined || out === undefined) {
    await putOut(reportOf(plan, results, { version, sets }), flags);
    return;
  }
  const complete = results.size === tasks.length;
  const file = shardFile({ job, version, shard }, { results, complete });
  writeResult("--out", out, `${JSON.stringify(file)}\n`);
  const state = complete ? "" : ", which was ended early and cannot be merged";
  process.stderr.write(
    `sim: ${results.size} of ${tasks.length} runs of shard ${shard.index}/${shard.count} in ${out}${state}\n`,
  );
}

function checkFlags({ shard, out, json, csv, html }: SimFlags): void {
  if ((shard === undefined) !== (out === undefined))
    throw new CommandFailure(
      `--${shard === undefined ? "out" : "shard"} needs --${shard === undefined ? "shard" : "out"}`,
      "Give both: --shard 1/4 --out part1.json. To keep a whole result, redirect --json or --csv.",
    );
  const other = json === true ? "--json" : csv === true ? "--csv" : html !== undefined && "--html";
  if (shard !== undefined && typeof other === "string")
    throw new CommandFailure(
      `${other}: a shard is not a result yet`,
      `Give ${other} to \`bobtail sim merge\`.`,
    );
}

/** A built-in name wins over a file of that name: `./name` is always the file. Mistakes in a file are printed here. */
function readSource(scenario: string): SimJob["source"] | undefined {
  if (scenarioNamed(scenario) !== undefined) return { kind: "built-in", name: scenario };
  const isFile = scenario === "-" || /[./\\]/.test(scenario) || existsSync(scenario);
  if (!isFile) return { kind: "built-in", name: builtInNamed(scenario).name };
  const reading = loadScenario(scenario);
  if (reading.ok) return { kind: "file", scenario: reading.scenario };
  process.stderr.write(`${formatProblems(reading.problems, paletteFor(process.stderr))}\n`);
  process.exitCode = EXIT.usage;
  return undefined;
}
