import { wrap } from "../plan/figures.ts";
import type { Palette } from "../terminal/palette.ts";
import type { TrialScenario } from "./scenarios/scenario.ts";
import type { FoundProgram, MissingProgram, TrialTarget } from "./targets/target.ts";

const WIDTH = 80;
const INDENT = "    ";

export interface ListedTarget {
  readonly target: TrialTarget;
  readonly found: FoundProgram | MissingProgram;
}

export async function findAll(targets: readonly TrialTarget[]): Promise<readonly ListedTarget[]> {
  return Promise.all(targets.map(async (target) => ({ target, found: await target.find() })));
}

/** Targets with their version or how to get them, and scenarios with their question. */
export function listText(
  targets: readonly ListedTarget[],
  scenarios: readonly TrialScenario[],
  palette: Palette,
): string {
  const lines = [palette.bold("Targets")];
  let family = "";
  for (const { target, found } of targets) {
    if (target.family !== family) {
      family = target.family;
      lines.push(familyLine(family, found, palette));
      if ("missing" in found) lines.push(palette.dim(indented(found.remedy)));
    }
    const role = target.role === undefined ? "" : ` (${target.role})`;
    lines.push(`  ${target.name}${palette.dim(role)}`, palette.dim(indented(target.title)));
  }
  lines.push("", palette.bold("Scenarios"), palette.dim("* in the quick set"));
  for (const { name, title, question, quick } of scenarios) {
    lines.push(`${quick ? "*" : " "} ${name}: ${title}`, palette.dim(indented(question)));
  }
  return `${lines.join("\n")}\n`;
}

function familyLine(family: string, found: ListedTarget["found"], palette: Palette): string {
  return "missing" in found
    ? `${family}: ${palette.yellow(`not installed: ${found.missing}`)}`
    : `${family} ${palette.green(found.version)} ${palette.dim(found.path)}`;
}

function indented(text: string): string {
  return wrap(text, WIDTH - INDENT.length)
    .split("\n")
    .map((line) => `${INDENT}${line}`)
    .join("\n");
}

export function listJson(
  targets: readonly ListedTarget[],
  scenarios: readonly TrialScenario[],
): unknown {
  return {
    schema: "bobtail.trial-list/1",
    targets: targets.map(({ target: { name, title, family, role, notes }, found }) => ({
      name,
      title,
      family,
      role: role ?? null,
      notes,
      ...found,
    })),
    scenarios: scenarios.map(({ name, title, question, health, quick }) => ({
      name,
      title,
      question,
      health,
      quick,
    })),
  };
}
