import { type PolicyReading, parsePolicy } from "../policy-file/load-policy.ts";
import { CommandFailure } from "../terminal/failure.ts";
import type { ProxyFlags } from "./proxy-flags.ts";

const SERVICE = "default";

/**
 * The quick form as a policy. The options become a policy text and go through the same validation as a
 * file, so that both forms accept the same things; mistakes are told by the name of their option.
 */
export function quickConfig(flags: ProxyFlags): PolicyReading & { readonly ok: true } {
  const service = {
    endpoints: flags.to,
    ...(flags.hedge !== undefined && { hedge: flags.hedge }),
    // An empty budget is the default one: a hedge must have a budget.
    ...((flags.budget !== undefined || flags.hedge !== undefined) && {
      budget: flags.budget === undefined ? {} : { extra: numberOrText(flags.budget) },
    }),
  };
  const policy = {
    listen: { address: flags.listen, service: SERVICE },
    ...(flags.admin !== undefined && { admin: { address: flags.admin } }),
    ...(flags.accessLog === true && { accessLog: "stdout" }),
    services: { [SERVICE]: service },
  };
  const reading = parsePolicy(JSON.stringify(policy), { file: "command line" });
  if (reading.ok) return reading;
  const [first, ...rest] = reading.problems.map(
    ({ path, reason, remedy }) => `${optionOf(path)}: ${reason}\n  ${remedy}`,
  );
  throw new CommandFailure([first, ...rest].join("\n"));
}

function numberOrText(written: string): number | string {
  return /^\d*\.?\d+$/.test(written) ? Number(written) : written;
}

const OPTIONS: readonly (readonly [prefix: string, option: string])[] = [
  ["listen", "--listen"],
  ["admin", "--admin"],
  [`services.${SERVICE}.endpoints`, "--to"],
  [`services.${SERVICE}.hedge`, "--hedge"],
  [`services.${SERVICE}.budget`, "--budget"],
];

function optionOf(path: string): string {
  return OPTIONS.find(([prefix]) => path.startsWith(prefix))?.[1] ?? path;
}
