import { checkWritable, writeResult } from "../sim/output.ts";
import { CommandFailure, explainStartError } from "../terminal/failure.ts";
import { paletteFor } from "../terminal/palette.ts";
import { showSeconds, statusLine } from "../terminal/status-line.ts";
import { type Stop, stopOnSignal } from "../terminal/stop-on-signal.ts";
import { ALL_TARGETS, chooseScenarios, chooseTargets } from "./choose.ts";
import { findAll, listJson, listText } from "./list-trial.ts";
import { waitForReach } from "./owner-fleet.ts";
import { planOwnerTarget } from "./owner-trial.ts";
import { HEALTH_PATH } from "./run-cell.ts";
import { type PlannedTarget, runTrial, type TrialPlan } from "./run-trial.ts";
import type { TrialSetup } from "./scenarios/scenario.ts";
import { trialScenarios } from "./scenarios/trial-scenarios.ts";
import { trialSetup } from "./scenarios/trial-setup.ts";
import type { TrialTarget } from "./targets/target.ts";
import { trialTargets } from "./targets/trial-targets.ts";
import { urlTarget } from "./targets/url/url-target.ts";
import { commandLineOf } from "./trial-command-line.ts";
import { exitCodeOf } from "./trial-exit.ts";
import type { TrialFlags } from "./trial-flags.ts";
import { trialJson } from "./trial-json.ts";
import { tellEvent } from "./trial-progress.ts";
import type { TrialReport } from "./trial-report.ts";
import { trialText } from "./trial-text.ts";

/** Starting, stopping and draining a cell, on the whole. */
const SPARE_CELL_MS = 2_500;

/** Does what `bobtail trial` was asked for; sets the exit code. */
export async function trial(
  names: readonly string[],
  flags: TrialFlags,
  version: string,
): Promise<void> {
  if (flags.list === true) return list(flags);
  const scenarios = chooseScenarios(flags.scenario ?? [], flags.all === true, trialScenarios);
  const targets = await targetsOf(names, flags);
  if (flags.showConfig === true) return showConfigs(targets, flags);
  checkWritable("--html", flags.html);
  const stop = stopOnSignal();
  try {
    const setup = setupOf(flags);
    const found = await findTargets(targets);
    const own = flags.url === undefined ? [] : [await planOwner(flags.url, setup, flags, stop)];
    const plan = { ...commonPlan(names, flags, version, stop), scenarios, setup };
    const planned = [...found, ...own];
    process.stderr.write(outlook(planned.length * scenarios.length, setup, flags.timeScale));
    const report = await runWithProgress({ ...plan, targets: planned });
    await putOut(report, flags);
    process.exitCode ??= exitCodeOf(report, flags);
  } catch (error) {
    throw explainStartError(error);
  } finally {
    stop.release();
  }
}

async function list(flags: TrialFlags): Promise<void> {
  const targets = await findAll(trialTargets());
  const text =
    flags.json === true
      ? `${JSON.stringify(listJson(targets, trialScenarios), null, 2)}\n`
      : listText(targets, trialScenarios, paletteFor(process.stdout));
  process.stdout.write(text);
}

async function targetsOf(
  names: readonly string[],
  { url }: TrialFlags,
): Promise<readonly TrialTarget[]> {
  const known = trialTargets();
  if (names.includes(ALL_TARGETS)) {
    // What else is named is among them, unless it is misspelt.
    chooseTargets(
      names.filter((name) => name !== ALL_TARGETS),
      known,
    );
    const listed = await findAll(known);
    return listed.filter(({ found }) => "version" in found).map(({ target }) => target);
  }
  if (names.length === 0 && url === undefined)
    throw new CommandFailure(
      "there is nothing to try",
      "Name a target, as `bobtail trial nginx/round-robin bobtail`, or give --url; `bobtail trial --list` names all of them.",
    );
  return chooseTargets(names, known);
}

/** Fails for the first that is not installed: a trial that leaves out what was asked for would pass for one that did not. */
async function findTargets(targets: readonly TrialTarget[]): Promise<PlannedTarget[]> {
  const listed = await findAll(targets);
  return listed.map(({ target, found }) => {
    if ("missing" in found)
      throw new CommandFailure(`${target.name}: ${found.missing}`, found.remedy);
    return { target, found, warnings: [] };
  });
}

function showConfigs(
  targets: readonly TrialTarget[],
  { ports, mean: meanMs, url }: TrialFlags,
): void {
  const backends = ports.map((port) => `http://127.0.0.1:${port}`);
  const place = {
    port: 8_080,
    directory: "/tmp/bobtail-trial",
    healthPath: HEALTH_PATH,
    meanMs,
  };
  const own = url === undefined ? [] : [urlTarget(url)];
  for (const target of [...targets, ...own])
    process.stdout.write(`# ${target.name}: ${target.title}\n${target.config(backends, place)}\n`);
}

function planOwner(
  url: string,
  setup: TrialSetup,
  { ports, wait: waitMs }: TrialFlags,
  { signal }: Stop,
): Promise<PlannedTarget> {
  const say = (text: string): unknown => process.stderr.write(text);
  return planOwnerTarget({ url, ports, setup, waitMs, signal, say });
}

function setupOf(flags: TrialFlags): TrialSetup {
  const { mean: meanMs, load: loadRatio, seed, seconds, url, ports } = flags;
  return trialSetup(
    {
      meanMs,
      loadRatio,
      seed,
      ...(seconds !== undefined && { durationMs: seconds * 1_000 }),
      ...(url !== undefined && { backends: ports.length }),
    },
    flags.all === true ? "full" : "quick",
  );
}

function commonPlan(
  names: readonly string[],
  flags: TrialFlags,
  version: string,
  { signal }: Stop,
): Pick<TrialPlan, "version" | "command" | "timeScale" | "ports" | "signal" | "beforeLoad"> {
  const { timeScale, url, ports, wait: waitMs } = flags;
  const common = { version, command: commandLineOf(names, flags), timeScale, signal };
  if (url === undefined) return common;
  return {
    ...common,
    ports,
    // Only the owner's balancer saw the fleet of the scenario before go.
    beforeLoad: (reached, fleet) =>
      reached === url ? waitForReach(fleet, { url, waitMs, signal }) : Promise.resolve(),
  };
}

function outlook(cells: number, setup: TrialSetup, timeScale: number): string {
  const cellMs = (setup.durationMs + setup.warmupMs) * timeScale + SPARE_CELL_MS;
  return `trial: ${cells} cells, about ${showSeconds(cells * cellMs)}\n`;
}

async function runWithProgress(plan: Omit<TrialPlan, "onEvent">): Promise<TrialReport> {
  const line = statusLine(process.stderr, () => performance.now());
  const write = (text: string): unknown => process.stderr.write(text);
  const target = { line, palette: paletteFor(process.stderr), write };
  try {
    return await runTrial({ ...plan, onEvent: (event) => tellEvent(event, target) });
  } finally {
    line.end();
  }
}

async function putOut(report: TrialReport, flags: TrialFlags): Promise<void> {
  process.stdout.write(
    flags.json === true
      ? `${JSON.stringify(trialJson(report), null, 2)}\n`
      : trialText(report, paletteFor(process.stdout)),
  );
  if (flags.html === undefined) return;
  const { trialHtml } = await import("./trial-html.ts");
  writeResult("--html", flags.html, trialHtml(report));
}
