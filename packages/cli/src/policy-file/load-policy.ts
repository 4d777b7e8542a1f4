import { dirname, resolve } from "node:path";
import type { ProxyConfig, ServiceConfig } from "../proxy/config.ts";
import { crossCheck } from "./cross-check.ts";
import { explainIssue, knownKeys } from "./explain.ts";
import { policySchema } from "./policy-schema.ts";
import { type Problem, problemAt } from "./problem.ts";
import { decodeSource, readSource, type SourceReading } from "./read-source.ts";
import type { Report } from "./report.ts";
import { parseSyntax } from "./syntax.ts";
import { readTlsFiles, withTlsTexts } from "./tls-files.ts";
import { buildTree } from "./tree.ts";

/**
 * What a policy file says, or everything that is wrong with it. `files` are the files that it names, as far
 * as they are known: a change of one is a reason to read it again.
 */
export type PolicyReading =
  | { readonly ok: true; readonly config: ProxyConfig; readonly files: readonly string[] }
  | {
      readonly ok: false;
      readonly problems: readonly Problem[];
      readonly files: readonly string[];
    };

/** More would only scroll by; a file with so many has one cause. */
const MAX_PROBLEMS = 200;

/** Reads and validates a policy file (`-`: standard input). Every mistake is a problem; nothing is thrown. */
export function loadPolicy(file: string): PolicyReading {
  return finish(readSource(file), file === "-" ? process.cwd() : dirname(resolve(file)));
}

/** The same for a text that is already here. Names of TLS files are relative to `folder`. */
export function parsePolicy(
  text: string,
  { file = "policy.yaml", folder = process.cwd() }: { file?: string; folder?: string } = {},
): PolicyReading {
  return finish(decodeSource(file, new TextEncoder().encode(text)), folder);
}

function finish(reading: SourceReading, folder: string): PolicyReading {
  if (!reading.ok) return { ...reading, files: [] };
  const { source } = reading;
  const syntax = parseSyntax(source);
  if (!syntax.ok) return { ...syntax, files: [] };

  const problems: Problem[] = [];
  const { root, whole } = buildTree(source, syntax.document, problems);
  if (!whole) return { ok: false, problems: inOrder(problems), files: [] };

  const report: Report = (tree, complaint) => {
    if (problems.length < 3 * MAX_PROBLEMS)
      problems.push(problemAt(source, tree.start, tree.end, complaint));
  };
  const parsed = policySchema.safeParse(root.value, { error: knownKeys });
  for (const issue of parsed.error?.issues.slice(0, MAX_PROBLEMS) ?? []) {
    problems.push(...explainIssue(source, root, issue));
  }
  crossCheck(root, report);
  const tls = readTlsFiles(root, folder, report);
  if (problems.length > 0 || !parsed.success) {
    return { ok: false, problems: inOrder(problems), files: tls.paths };
  }

  const services: Record<string, ServiceConfig> = {};
  for (const [name, service] of Object.entries(parsed.data.services)) {
    services[name] = withTlsTexts(name, service, tls.texts);
  }
  const { listen: listeners, accessLog: log, ...rest } = parsed.data;
  const accessLog = log === "stdout" ? log : undefined;
  return { ok: true, config: { ...rest, listeners, services, accessLog }, files: tls.paths };
}

/** By place, each once: an alias shows one mistake wherever it is used. */
function inOrder(problems: readonly Problem[]): readonly Problem[] {
  const distinct = new Map(
    problems.map((problem) => [`${problem.line}:${problem.column}:${problem.reason}`, problem]),
  );
  return [...distinct.values()]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, MAX_PROBLEMS);
}
