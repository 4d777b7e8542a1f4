import { Composer, type CST, type Document, isScalar, Lexer, Parser, type YAMLError } from "yaml";
import { type Complaint, type Problem, problemAt } from "./problem.ts";
import type { SourceText } from "./source-text.ts";

/**
 * A policy nests about ten levels. The bound is checked while tokens arrive, before the tree is built
 * by recursion: input nested a thousand times deeper ends the whole process, not just the parse.
 */
const MAX_PARSER_DEPTH = 64;
/** About twenty thousand endpoints. Some malformed inputs cost more than linear time in their tokens. */
const MAX_TOKENS = 250_000;
const MAX_SYNTAX_PROBLEMS = 20;

export type SyntaxReading =
  | { readonly ok: true; readonly document: Document.Parsed }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads YAML 1.2, of which JSON is a part: one document, no directives for older versions. */
export function parseSyntax(source: SourceText): SyntaxReading {
  const tokens = tokenize(source);
  if (!tokens.ok) return tokens;

  const documents: Document.Parsed[] = [];
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, version: "1.2" });
  for (const document of composer.compose(tokens.tokens, true, source.text.length)) {
    documents.push(document);
    if (documents.length === 2) break;
  }

  const [first, second] = documents;
  const contents = first?.contents ?? null;
  if (first === undefined || contents === null || (isScalar(contents) && contents.value === null)) {
    const remedy = "Write a starter file with `bobtail init`.";
    return fail(source, 0, { reason: "the file is empty", remedy });
  }
  const faults = [...first.errors, ...first.warnings].slice(0, MAX_SYNTAX_PROBLEMS);
  if (faults.length > 0) {
    return { ok: false, problems: faults.map((fault) => syntaxProblem(source, fault)) };
  }
  if (second !== undefined) {
    const remedy = "Keep one document: remove the `---` and what follows, or use several files.";
    return fail(source, second.range[0], { reason: "a second document begins here", remedy });
  }
  if (first.directives.yaml.version !== "1.2") {
    const remedy = "Remove the %YAML line.";
    return fail(source, 0, { reason: "only YAML 1.2 is read", remedy });
  }
  return { ok: true, document: first };
}

type Tokens =
  | { readonly ok: true; readonly tokens: readonly CST.Token[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

function tokenize(source: SourceText): Tokens {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(source.text)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MAX_PARSER_DEPTH) {
      const reason = `nested more than ${MAX_PARSER_DEPTH / 2} levels deep`;
      return fail(source, parser.offset - 1, { reason, remedy: "A policy needs about ten." });
    }
    count++;
    if (count > MAX_TOKENS) {
      const reason = `more than ${MAX_TOKENS} tokens`;
      return fail(source, parser.offset, { reason, remedy: "Is this a policy file? Split it." });
    }
  }
  tokens.push(...parser.end());
  return { ok: true, tokens };
}

const ADVICE: Readonly<Partial<Record<YAMLError["code"], string>>> = {
  TAB_AS_INDENT: "Indent with spaces.",
  BAD_INDENT: "Align it with the keys of its level, in spaces.",
  MISSING_CHAR: "Close the quote or bracket.",
  BLOCK_AS_IMPLICIT_KEY: "Put quotes round a value that contains `: `, or start a new line.",
  MULTILINE_IMPLICIT_KEY: "A key and its `:` belong on one line.",
  TAG_RESOLVE_FAILED: "Remove the tag (`!...`), or put quotes round the value.",
  BAD_ALIAS: "Put quotes round a value that begins with `*`.",
  UNEXPECTED_TOKEN: "Remove it, or put quotes round the value.",
};

function syntaxProblem(
  source: SourceText,
  fault: YAMLError | Document["warnings"][number],
): Problem {
  const [start, end] = fault.pos;
  if (fault.message.startsWith("Implicit map keys need")) {
    const reason = "not valid YAML: a word alone where a key and its value belong";
    return problemAt(source, start, end, { reason, remedy: "Write `key: value`." });
  }
  const message = fault.message.split("\n")[0] ?? "";
  const reason = message.length > 120 ? `${message.slice(0, 117)}...` : message;
  const remedy = ADVICE[fault.code] ?? "Check the syntax: indentation, brackets and quotes.";
  return problemAt(source, start, end, { reason: `not valid YAML: ${reason}`, remedy });
}

function fail(
  source: SourceText,
  offset: number,
  complaint: Complaint,
): { ok: false; problems: readonly Problem[] } {
  return { ok: false, problems: [problemAt(source, offset, offset + 1, complaint)] };
}
