import { readDurationMs, readRatio } from "../policy-file/units.ts";

/** Longer is no value of a field. */
const MAX_TEXT = 10_000;

/**
 * What a value on the command line may mean, likeliest first: the field decides, since only the schema knows whether
 * `5` is a number or a name. `70%` is a ratio, `12ms` milliseconds, `{...}` and `[...]` are YAML, nothing removes the field.
 */
export async function readingsOf(text: string): Promise<readonly unknown[]> {
  const written = text.trim();
  if (written === "") return [undefined];
  if (written.length > MAX_TEXT) return [written];
  const readings: unknown[] = [];
  const ratio = written.endsWith("%") ? readRatio(written) : undefined;
  if (ratio?.ok === true) readings.push(ratio.value);
  const duration = readDurationMs(written);
  if (duration.ok) readings.push(duration.value);
  const data = await readYaml(written);
  if (data !== undefined) readings.push(data);
  readings.push(written);
  return readings;
}

async function readYaml(text: string): Promise<unknown> {
  const number = Number(text);
  if (Number.isFinite(number)) return number;
  if (text === "true" || text === "false") return text === "true";
  if (!/^[[{"']/.test(text)) return undefined;
  const { decodeSource } = await import("../policy-file/read-source.ts");
  const { parseSyntax } = await import("../policy-file/syntax.ts");
  const { buildTree } = await import("../policy-file/tree.ts");
  const source = decodeSource("--set", new TextEncoder().encode(text));
  if (!source.ok) return undefined;
  const syntax = parseSyntax(source.source);
  if (!syntax.ok) return undefined;
  const problems: never[] = [];
  const { root } = buildTree(source.source, syntax.document, problems);
  return problems.length === 0 ? root.value : undefined;
}
