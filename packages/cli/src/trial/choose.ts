import { nearest } from "../policy-file/nearest.ts";
import { CommandFailure } from "../terminal/failure.ts";
import type { TrialScenario } from "./scenarios/scenario.ts";
import { trialScenarios } from "./scenarios/trial-scenarios.ts";
import type { TrialTarget } from "./targets/target.ts";

/** Stands for every target that is found on this machine. */
export const ALL_TARGETS = "all";

/**
 * Targets by name, or all of a program by its family's, each once and in the order in which they were asked for.
 *
 * Throws a {@link CommandFailure} for a name that is neither.
 */
export function chooseTargets(
  names: readonly string[],
  known: readonly TrialTarget[],
): readonly TrialTarget[] {
  const chosen = new Set<TrialTarget>();
  for (const name of names) {
    const exact = known.filter((target) => target.name === name);
    const some = exact.length > 0 ? exact : known.filter((target) => target.family === name);
    if (some.length === 0) throw unknown("target", name, namesOf(known), otherFlagFor(name));
    for (const target of some) chosen.add(target);
  }
  return [...chosen];
}

/** By name; without one, the quick set or all of them. Throws a {@link CommandFailure} for a name that is not known. */
export function chooseScenarios(
  names: readonly string[],
  isAll: boolean,
  known: readonly TrialScenario[],
): readonly TrialScenario[] {
  if (names.length === 0) return isAll ? known : known.filter(({ quick }) => quick);
  const chosen = names.map((name) => {
    const scenario = known.find((one) => one.name === name);
    if (scenario === undefined)
      throw unknown(
        "scenario",
        name,
        known.map((one) => one.name),
        repeated(name),
      );
    return scenario;
  });
  return [...new Set(chosen)];
}

function namesOf(targets: readonly TrialTarget[]): string[] {
  return [...new Set(targets.flatMap(({ name, family }) => [name, family])), ALL_TARGETS];
}

/** What was meant for another flag. */
function otherFlagFor(name: string): string {
  if (/^https?:/i.test(name)) return `For your own balancer write --url ${name}. `;
  const isScenario = trialScenarios.some((scenario) => scenario.name === name);
  return isScenario ? `It is a scenario: write --scenario ${name}. ` : "";
}

function repeated(name: string): string {
  const parts = name.split(",").map((part) => part.trim());
  if (parts.length === 1 || parts.includes("")) return "";
  return `Write ${parts.map((part) => `--scenario ${part}`).join(" ")}. `;
}

/** @param otherwise - how to write what was meant, where it is known; with a blank at its end. */
function unknown(
  what: string,
  name: string,
  known: readonly string[],
  otherwise: string,
): CommandFailure {
  const meant = otherwise === "" ? nearest(name, known) : undefined;
  const hint = meant === undefined ? otherwise : `Did you mean ${meant}? `;
  return new CommandFailure(
    `there is no ${what} named "${name}"`,
    `${hint}\`bobtail trial --list\` names all of them.`,
  );
}
