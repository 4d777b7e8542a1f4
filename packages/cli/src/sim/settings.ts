import { checkScenario, type Problem, type Scenario } from "bobtail/sim";
import { CommandFailure } from "../terminal/failure.ts";
import { EVERY, isFault, type PathStep, parsePath, withValue } from "./data-path.ts";
import type { AxisValue, SweepAxis } from "./sim-plan.ts";
import { parseSweep } from "./sweep-values.ts";
import { readingsOf } from "./typed-value.ts";
import { sizeProblems } from "./world-size.ts";

/** A scenario as data, and what to call it where there are several. */
export interface Subject {
  readonly name: string;
  readonly data: Scenario;
}

/** A subject at one point of the sweep. */
interface SweptSubject extends Subject {
  readonly at: readonly AxisValue[];
}

export interface Swept {
  readonly axes: readonly SweepAxis[];
  /** Subject by subject, each at all points. */
  readonly subjects: readonly SweptSubject[];
}

const MAX_CELLS = 5_000;
/** What the command line has options of its own for. */
const RESERVED: ReadonlyMap<PathStep, string> = new Map([
  ["runs", "--runs"],
  ["seed", "--seed"],
]);

/** Applies every `--set`, then the points of every `--sweep`. Throws a {@link CommandFailure} that names the path. */
export async function applySettings(
  subjects: readonly Subject[],
  { sets, sweeps }: { readonly sets: readonly string[]; readonly sweeps: readonly string[] },
): Promise<Swept> {
  let changed = subjects;
  for (const text of sets) changed = await applySet(changed, text);
  if (sets.length > 0) for (const subject of changed) refuseProblems(subject, `--set`, subjects);
  const axes: SweepAxis[] = [];
  let swept: readonly SweptSubject[] = changed.map((subject) => ({ ...subject, at: [] }));
  for (const text of sweeps) {
    const { path, values } = parseSweep(text);
    if (swept.length * values.length > MAX_CELLS)
      throw new CommandFailure(
        `--sweep ${path}: more than ${MAX_CELLS} rows in all`,
        "Sweep over fewer values.",
      );
    const points: AxisValue[] = [];
    const next: SweptSubject[][] = swept.map(() => []);
    for (const value of values) {
      const flag = `--sweep ${path}=${value}`;
      const set = await setAll(swept, { path, text: value, flag });
      points.push(set.value);
      for (const [i, subject] of set.subjects.entries())
        next[i]?.push({ ...subject, at: [...subject.at, set.value] });
    }
    swept = next.flat();
    axes.push({ path, values: points });
  }
  const label = `--sweep`;
  if (sweeps.length > 0) for (const subject of swept) refuseProblems(subject, label, subjects);
  return { axes, subjects: swept };
}

async function applySet(subjects: readonly Subject[], text: string): Promise<readonly Subject[]> {
  const equals = text.indexOf("=");
  if (equals < 1)
    throw new CommandFailure(
      `--set ${text}: expected a path and a value`,
      "Write it as arrivals.load=0.5.",
    );
  const path = text.slice(0, equals).trim();
  const flag = `--set ${text}`;
  return (await setAll(subjects, { path, text: text.slice(equals + 1), flag })).subjects;
}

interface Setting {
  readonly path: string;
  readonly text: string;
  /** As the user wrote it. */
  readonly flag: string;
}

async function setAll<S extends Subject>(
  subjects: readonly S[],
  { path, text, flag }: Setting,
): Promise<{ readonly subjects: readonly S[]; readonly value: AxisValue }> {
  const steps = parsePath(path);
  if (isFault(steps)) throw new CommandFailure(`${flag}: ${steps.reason}`, steps.remedy);
  const reserved = RESERVED.get(steps[0] ?? "");
  if (reserved !== undefined)
    throw new CommandFailure(`${flag}: this is an option of its own`, `Use ${reserved}.`);
  const readings = await readingsOf(text);
  const [first] = subjects;
  let value = readings[0];
  if (first !== undefined && readings.length > 1) {
    const counts = readings.map((reading) => problemCount(first.data, steps, reading));
    value = readings[counts.indexOf(Math.min(...counts))];
  }
  return {
    subjects: subjects.map((subject) => {
      const placed = withValue(subject.data, stepsFor(subject.data, steps), value);
      if (isFault(placed)) {
        const where = subjects.length > 1 ? ` (row "${subject.name}")` : "";
        throw new CommandFailure(`${flag}: ${placed.reason}${where}`, placed.remedy);
      }
      return { ...subject, data: placed.data as Scenario };
    }),
    value: typeof value === "number" || typeof value === "boolean" ? value : text.trim(),
  };
}

/** `policy` means all of them where there are several. */
function stepsFor(data: Scenario, steps: readonly PathStep[]): readonly PathStep[] {
  return steps[0] === "policy" && data.policies !== undefined
    ? ["policies", EVERY, ...steps.slice(1)]
    : steps;
}

function problemCount(data: Scenario, steps: readonly PathStep[], value: unknown): number {
  const placed = withValue(data, stepsFor(data, steps), value);
  if (isFault(placed)) return Number.MAX_SAFE_INTEGER;
  const checked = checkScenario(placed.data);
  return checked.ok ? 0 : checked.problems.length;
}

function refuseProblems(subject: Subject, flag: string, all: readonly Subject[]): void {
  const checked = checkScenario(subject.data);
  const problems: readonly Problem[] = checked.ok ? sizeProblems(subject.data) : checked.problems;
  if (problems.length === 0) return;
  const where = all.length > 1 ? ` (row "${subject.name}")` : "";
  const lines = problems.map(({ path, reason, remedy }) => `${path} ${reason}${where}: ${remedy}.`);
  throw new CommandFailure(
    `${flag}: ${lines.length === 1 ? "" : `${lines.length} mistakes\n  `}${lines.join("\n  ").replace(/([?.])\.$/gm, "$1")}`,
  );
}
