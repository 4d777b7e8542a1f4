import type { TrialFlags } from "./trial-flags.ts";

/** What one types to have the same again: everything that the figures depend on, defaults too where they may change. */
export function commandLineOf(targets: readonly string[], flags: TrialFlags): string {
  const { mean, load, seconds, seed, timeScale, scenario = [], url, ports } = flags;
  const words = ["bobtail trial", ...targets.map(quoted)];
  if (url !== undefined) words.push(`--url ${quoted(url)}`, `--ports ${ports.join(",")}`);
  words.push(...scenario.map((name) => `--scenario ${quoted(name)}`));
  if (scenario.length === 0) words.push(flags.all === true ? "--all" : "--quick");
  words.push(`--mean ${mean}ms`, `--load ${load}`, `--seed ${seed}`);
  if (seconds !== undefined) words.push(`--seconds ${seconds}`);
  if (timeScale !== 1) words.push(`--time-scale ${timeScale}`);
  return words.join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
