import type { TargetPlace } from "../target.ts";

/** @param policy - lines of the service beside its endpoints; none for Bobtail's defaults. */
export function proxyConfig(
  backends: readonly string[],
  { port }: TargetPlace,
  policy: readonly string[],
): string {
  const endpoints = backends.map((url) => `      - ${url}\n`).join("");
  return `listen: { address: 127.0.0.1:${port}, service: fleet }

services:
  fleet:
    endpoints:
${endpoints}${policy.map((line) => `    ${line}\n`).join("")}`;
}
