import { CommandFailure } from "../../terminal/failure.ts";
import type { LoadFlags } from "../command/load-flags.ts";
import { DEFAULT_CALIBRATION_FILE } from "./calibration.ts";
import type { CompareFlags } from "./compare-flags.ts";
import { checkComparisonFiles } from "./comparison-output.ts";
import { QUANTITY_NAMES, type QuantityName } from "./quantity.ts";
import { readThresholds, type Thresholds } from "./threshold.ts";

export interface CompareContext {
  readonly flags: LoadFlags & CompareFlags;
  /** Of the tool. */
  readonly version: string;
  readonly thresholds: Thresholds;
  readonly quantities: readonly QuantityName[];
}

/** `bobtail load --compare` and `--calibrate`: measures or reads, prints, writes, and sets the exit code. */
export async function compare(
  urls: readonly string[],
  flags: LoadFlags & CompareFlags,
  version: string,
): Promise<void> {
  checkTogether(urls, flags);
  checkComparisonFiles(flags.out ?? []);
  const context: CompareContext = {
    flags,
    version,
    thresholds: readThresholds(flags.threshold ?? []),
    quantities: flags.quantities ?? QUANTITY_NAMES,
  };
  if (flags.calibrate === true) {
    const { calibrate } = await import("./calibrate.ts");
    return calibrate(urls[0] ?? "", context);
  }
  const [a, b] = sidesOf(flags);
  if (!areUrls([...a, ...b])) {
    const { compareStored } = await import("./compare-stored.ts");
    return compareStored(a, b, context);
  }
  const [urlA, urlB] = [a[0], b[0]];
  if (urlA === undefined || urlB === undefined || a.length + b.length > 2)
    throw new CommandFailure(
      "--compare measures one URL a side, or reads stored runs",
      "Write --compare URL URL, or --compare old*.json --against new*.json.",
    );
  const { compareLive } = await import("./compare-live.ts");
  return compareLive(urlA, urlB, context);
}

type Sides = readonly [a: readonly string[], b: readonly string[]];

function sidesOf({ compare: first = [], against }: CompareFlags): Sides {
  if (against !== undefined) return [first, against];
  if (first.length !== 2)
    throw new CommandFailure(
      `--compare takes two sides, and was given ${first.length}`,
      "Write --compare A B, or --compare A1 A2 --against B1 B2.",
    );
  return [first.slice(0, 1), first.slice(1)];
}

/** Whether they are to be measured, and not read. Throws a {@link CommandFailure} for some of each. */
function areUrls(names: readonly string[]): boolean {
  const bare = names.find((name) => /^[\w.-]+:\d+(\/|$)/.test(name));
  if (bare !== undefined)
    throw new CommandFailure(`${bare}: this is not an http or https URL`, `Write http://${bare}.`);
  const isUrl = (name: string): boolean => /^https?:\/\//i.test(name);
  const file = names.find((name) => !isUrl(name));
  if (file === undefined) return names.length > 0;
  if (names.some(isUrl))
    throw new CommandFailure(
      `--compare: ${file} is a file, and the other side is a URL`,
      "Compare two URLs, or stored runs of both: bobtail load URL --out FILE.json.",
    );
  return false;
}

/** What has no meaning beside a comparison. */
function checkTogether(urls: readonly string[], flags: LoadFlags & CompareFlags): void {
  const others = {
    "--sweep": flags.sweep,
    "--find-limit": flags.findLimit,
    "--fail-if": flags.failIf,
    "--urls": flags.urls,
  };
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined)
    throw new CommandFailure(
      `${other}: a comparison is judged by its own thresholds, of one URL a side`,
      "Leave it out, or make single runs.",
    );
  if (flags.calibrate === true && (flags.compare !== undefined || urls.length !== 1))
    throw new CommandFailure(
      "--calibrate measures one URL against itself",
      "Write bobtail load URL --calibrate.",
    );
  if (flags.calibrate === true && flags.out !== undefined)
    throw new CommandFailure(
      `--out ${flags.out[0]}: a calibration is kept in one file, which later comparisons read`,
      `Name it with --calibration FILE; without it it is ${DEFAULT_CALIBRATION_FILE}.`,
    );
  if (flags.compare !== undefined && urls.length > 0)
    throw new CommandFailure(
      `${urls[0]}: the two sides of a comparison stand after --compare`,
      "Write bobtail load --compare A B, its other options before it.",
    );
}
