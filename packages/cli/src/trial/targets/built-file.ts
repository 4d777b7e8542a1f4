import { fileURLToPath } from "node:url";

/** A child needs JavaScript: where this file runs as source, under a test runner, the build beside it is used. */
export function builtFile(name: string): string {
  const folder = import.meta.url.endsWith(".ts") ? "../../../dist/trial/targets/" : "./";
  return fileURLToPath(new URL(`${folder}${name}`, import.meta.url));
}
