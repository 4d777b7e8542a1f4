import { createRequire } from "node:module";
import { Command } from "commander";
import { addDemoCommand } from "../demo/command.ts";
import { addLoadCommand } from "../load/command/command.ts";
import { addPlanCommand } from "../plan/command.ts";
import { addSimCommand } from "../sim/command.ts";
import { addTrialCommand } from "../trial/command.ts";
import { addCheckCommand } from "./check-command.ts";
import { addInitCommand } from "./init-command.ts";
import { addProxyCommand } from "./proxy-command.ts";
import { addSchemaCommand } from "./schema-command.ts";

/** The command line. Each command imports its own machinery when it runs, so that help comes at once. */
export function createProgram(): Command {
  const program = new Command("bobtail")
    .description("Short tails for services that fan out: a proxy that routes round slow backends.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .showHelpAfterError("Run with --help for the options.")
    .exitOverride()
    // `sim merge --json` is an option of `merge`, not of `sim`.
    .enablePositionalOptions()
    .addHelpText(
      "after",
      `
Examples:
  bobtail demo                                             see a sick backend and a short tail
  bobtail proxy --listen :8080 --to http://a:80 --to http://b:80 --hedge auto
  bobtail init && bobtail check bobtail.yaml && bobtail proxy --config bobtail.yaml
  bobtail load http://127.0.0.1:8080 --rate 200            what users would feel
  bobtail trial nginx                                      would it route round a slow backend?

Exit codes: 0 ok, 1 internal error, 2 usage or policy file, 3 a threshold was not met, 4 a regression,
5 the measurement is not valid, 130 and 143 on signals.`,
    );
  addDemoCommand(program);
  addProxyCommand(program);
  addLoadCommand(program);
  addPlanCommand(program);
  addSimCommand(program);
  addTrialCommand(program);
  addInitCommand(program);
  addCheckCommand(program);
  addSchemaCommand(program);
  return program;
}

function version(): string {
  const manifest: unknown = createRequire(import.meta.url)("../../package.json");
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}
