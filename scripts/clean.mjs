// Removes what was built, so that the next command builds it anew.
import { rmSync } from "node:fs";

for (const name of ["bobtail", "cli"]) {
  rmSync(new URL(`../packages/${name}/dist`, import.meta.url), { recursive: true, force: true });
}
