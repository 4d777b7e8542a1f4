import { parsePolicy } from "./load-policy.ts";

/** The problems of a text, each as `line:column reason`; empty when it is valid. */
export function mistakes(text: string): string[] {
  const reading = parsePolicy(text);
  return reading.ok
    ? []
    : reading.problems.map(({ line, column, reason }) => `${line}:${column} ${reason}`);
}

/** A policy of one service with these lines in it. */
export function withService(...lines: readonly string[]): string {
  return `services:\n  s:\n${lines.map((line) => `    ${line}\n`).join("")}`;
}

export const TWO_ENDPOINTS = "endpoints: [http://127.0.0.1:9001, http://127.0.0.1:9002]";
