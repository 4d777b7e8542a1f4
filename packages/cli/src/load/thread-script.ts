/** A thread needs JavaScript: where this file runs as source, under a test runner, the build beside it is used. */
export function threadScript(name: string): URL {
  const path = import.meta.url.endsWith(".ts") ? `../../dist/load/${name}.js` : `./${name}.js`;
  return new URL(path, import.meta.url);
}
