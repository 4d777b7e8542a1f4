import { createRequire } from "node:module";

/** Of this command, which is the version of the library in it. */
export function ownVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)("../../../package.json");
  return versionIn(manifest) ?? "unknown";
}

export function versionIn(manifest: unknown): string | undefined {
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : undefined;
}
