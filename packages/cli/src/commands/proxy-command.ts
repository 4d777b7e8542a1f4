import type { Command } from "commander";
import { CommandFailure } from "../terminal/failure.ts";
import { collect } from "./collect.ts";
import type { ProxyFlags } from "./proxy-flags.ts";

/** `bobtail proxy`: runs until it is told to stop. */
export function addProxyCommand(program: Command): void {
  program
    .command("proxy")
    .summary("route requests round slow backends")
    .description(
      "Runs the proxy: from a policy file, or from a few options with Bobtail's defaults. A policy file is " +
        "read again on SIGHUP and when it changes; with mistakes in it, the old one stays in force.",
    )
    .option("-c, --config <file>", "policy file in YAML or JSON")
    .option("-l, --listen <address>", "host:port, [::1]:port, or :port for every interface")
    .option("-t, --to <url>", "an endpoint; give it once for each", collect)
    .option("--admin <address>", "where health, metrics and statistics are served")
    .option("--hedge <delay>", "second copies of slow calls: auto, p97 or 12ms; default none")
    .option("--budget <ratio>", "extra load that hedges and retries may add; default 10%")
    .option("--access-log", "write one JSON line a request to stdout")
    .option("--grace <duration>", "how long requests may take to end after SIGTERM", "30s")
    .addHelpText(
      "after",
      `
Examples:
  bobtail proxy --listen 127.0.0.1:8080 --to http://10.0.0.1:8080 --to http://10.0.0.2:8080
  bobtail proxy --listen :8080 --to http://a:80 --to http://b:80 --hedge auto --budget 5%
  bobtail proxy --config bobtail.yaml

Signals: SIGHUP reads the policy file again; SIGTERM and SIGINT drain, a second one ends at once.`,
    )
    .action(async (flags: ProxyFlags) => {
      refuseMixture(flags);
      const { runProxy } = await import("./run-proxy.ts");
      await runProxy(flags);
    });
}

function refuseMixture(flags: ProxyFlags): void {
  const quick = (["listen", "admin", "hedge", "budget", "accessLog"] as const).filter(
    (name) => flags[name] !== undefined,
  );
  const names = [
    ...quick.map((n) => (n === "accessLog" ? "access-log" : n)),
    ...(flags.to !== undefined ? ["to"] : []),
  ];
  if (flags.config !== undefined) {
    if (names.length === 0) return;
    const given = names.map((name) => `--${name}`).join(", ");
    throw new CommandFailure(
      `--config cannot be combined with ${given}`,
      "Write these in the policy file; --access-log is `accessLog: stdout` there.",
    );
  }
  if (flags.listen === undefined || flags.to === undefined) {
    throw new CommandFailure(
      "the proxy needs --config FILE, or --listen ADDRESS with at least one --to URL",
      "For example: bobtail proxy --listen 127.0.0.1:8080 --to http://127.0.0.1:9001 --to http://127.0.0.1:9002",
    );
  }
}
