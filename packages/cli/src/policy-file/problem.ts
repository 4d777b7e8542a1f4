import type { Palette } from "../terminal/palette.ts";
import { printable, printableColumns } from "../terminal/printable.ts";
import type { SourceText } from "./source-text.ts";

/** One mistake in a policy file: where, why and how to mend it. */
export interface Problem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units, as editors count. */
  readonly column: number;
  /** The field, as `services.search.hedge.after`; empty for the file as a whole. */
  readonly path: string;
  readonly reason: string;
  readonly remedy: string;
  /** The line at fault, or its part round the mistake; credentials are hidden. Empty when there is no text. */
  readonly excerpt: string;
  /** Where in the excerpt the mistake begins, from 0, and how far it goes, at least 1. */
  readonly caret: { readonly start: number; readonly length: number };
}

/** What a problem says, without its place. */
export interface Complaint {
  readonly path?: readonly PropertyKey[] | undefined;
  readonly reason: string;
  readonly remedy: string;
}

const EXCERPT_COLUMNS = 100;
/** A line may be a MiB long; so much of it on either side is looked at. */
const NEIGHBOURHOOD = 1024;
/** More than a person will mend in one go; the count of the rest is printed. */
const MAX_PRINTED = 50;

/** A problem at `[start, end)` of the text. Places outside are moved to its nearest end. */
export function problemAt(
  source: SourceText,
  start: number,
  end: number,
  complaint: Complaint,
): Problem {
  const place = source.placeOf(start);
  const index = place.column - 1;
  const skipped = Math.max(0, index - NEIGHBOURHOOD);
  const line = printableColumns(source.lineText(place.line).slice(skipped, index + NEIGHBOURHOOD));
  const centre = index - skipped;
  const from = line.length <= EXCERPT_COLUMNS ? 0 : Math.max(0, centre - EXCERPT_COLUMNS / 2);
  const excerpt = line.slice(from, from + EXCERPT_COLUMNS);
  const room = Math.max(1, excerpt.length - (centre - from));
  return {
    file: source.file,
    line: place.line,
    column: place.column,
    path: printable(showPath(complaint.path ?? [])),
    reason: printable(complaint.reason),
    remedy: printable(complaint.remedy),
    excerpt,
    caret: {
      start: Math.min(centre - from, excerpt.length),
      length: Math.min(room, Math.max(1, end - start)),
    },
  };
}

/** A problem of the file itself, which has no text to point into. */
export function problemOfFile(file: string, reason: string, remedy: string): Problem {
  const caret = { start: 0, length: 1 };
  return { file, line: 1, column: 1, path: "", reason, remedy, excerpt: "", caret };
}

/** Every problem with its place, its line with a caret, and its remedy; for a terminal. */
export function formatProblems(problems: readonly Problem[], palette: Palette): string {
  const blocks = problems.slice(0, MAX_PRINTED).map((problem) => formatProblem(problem, palette));
  const more = problems.length - MAX_PRINTED;
  if (more > 0) blocks.push(`... and ${more} more`);
  return blocks.join("\n\n");
}

/** `services.search.endpoints[2].url`. */
function showPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += `${text === "" ? "" : "."}${String(part)}`;
  }
  return text;
}

function formatProblem(problem: Problem, palette: Palette): string {
  const place = `${problem.file}:${problem.line}:${problem.column}`;
  const about = problem.path === "" ? "" : `${problem.path}: `;
  const lines = [`${palette.bold(place)}: ${palette.red("error")}: ${about}${problem.reason}`];
  if (problem.excerpt !== "") {
    const margin = String(problem.line);
    // Characters outside the basic plane take two units but one cell.
    const indent = " ".repeat([...problem.excerpt.slice(0, problem.caret.start)].length);
    lines.push(`  ${palette.dim(`${margin} |`)} ${problem.excerpt}`);
    const caret = palette.red("^".repeat(problem.caret.length));
    lines.push(`  ${palette.dim(`${" ".repeat(margin.length)} |`)} ${indent}${caret}`);
  }
  if (problem.remedy !== "") lines.push(`  ${problem.remedy}`);
  return lines.join("\n");
}
