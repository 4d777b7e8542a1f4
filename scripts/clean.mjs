// Removes what was built, so that the next command builds it anew.
import { rmSync } from "node:fs";

for (const name of ["bobtail", "cli"]) {
  // A package's own build record stands beside its `dist`: if it stayed, `tsc -b` would think the files are still there.
  for (const built of ["dist", "tsconfig.tsbuildinfo"]) {
    rmSync(new URL(`../packages/${name}/${built}`, import.meta.url), {
      recursive: true,
      force: true,
    });
  }
}
