import { type Fleet, startFleet } from "../fleet/fleet.ts";
import { pinTargets } from "../load/command/target-addresses.ts";
import { CommandFailure } from "../terminal/failure.ts";
import { checkReach } from "./owner-fleet.ts";
import { HEALTH_PATH } from "./run-cell.ts";
import type { PlannedTarget } from "./run-trial.ts";
import type { TrialSetup } from "./scenarios/scenario.ts";
import { urlTarget } from "./targets/url/url-target.ts";

const SPARE_LIFETIME_MS = 60_000;

export interface OwnerTrial {
  readonly url: string;
  readonly ports: readonly number[];
  readonly setup: TrialSetup;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** For people, beside the result. */
  readonly say: (text: string) => void;
}

/**
 * Says how to point the balancer at the backends, puts a healthy fleet there and waits until a probe reaches it.
 *
 * Throws a {@link CommandFailure} for a URL that never does, and for ports that are taken.
 */
export async function planOwnerTarget(trial: OwnerTrial): Promise<PlannedTarget> {
  const { url, ports, waitMs, signal, say } = trial;
  const target = urlTarget(url);
  const found = await target.find();
  if ("missing" in found) throw new CommandFailure(found.missing, found.remedy);
  await refuseForeign(url);
  say(
    `Point ${url} at these ${ports.length} backends, for every path. Health checks, if it has any, should ask for ` +
      `${HEALTH_PATH}.\n\n${target.config(urlsOf(ports), { port: 0, directory: "", healthPath: HEALTH_PATH })}\n` +
      `Waiting up to ${waitMs / 1_000} s for a probe to come through ...\n`,
  );
  const fleet = await startHealthyFleet(trial);
  try {
    const warnings = await checkReach(fleet, { url, waitMs, signal });
    for (const warning of warnings) say(`${url}: ${warning}\n`);
    if (warnings.length === 0 && !signal.aborted) say("It reaches all of them.\n");
    return { target, found, warnings };
  } finally {
    await fleet.stop();
  }
}

/** The backends listen on this machine's loopback, so a balancer elsewhere cannot reach them, and has not asked for load. */
async function refuseForeign(url: string): Promise<void> {
  try {
    await pinTargets([url], false);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    throw new CommandFailure(
      `--url ${url}: ${error.message}`,
      "The balancer on trial must run on this machine: its backends listen on 127.0.0.1.",
    );
  }
}

function urlsOf(ports: readonly number[]): string[] {
  return ports.map((port) => `http://127.0.0.1:${port}`);
}

async function startHealthyFleet({ ports, setup, waitMs }: OwnerTrial): Promise<Fleet> {
  const { meanMs, workers, seed } = setup;
  try {
    return await startFleet({
      backends: ports.map((port) => ({ law: { meanMs, slowFactor: 1 }, workers, port })),
      healthPath: HEALTH_PATH,
      seed,
      lifetimeMs: waitMs + SPARE_LIFETIME_MS,
    });
  } catch (error) {
    const taken = /EADDRINUSE.*:(\d+)/.exec(String(error));
    if (taken === null) throw error;
    throw new CommandFailure(
      `port ${taken[1]} is taken by another program`,
      "The backends of the fleet listen there. Choose other ports with --ports, as --ports 19001..19010.",
    );
  }
}
