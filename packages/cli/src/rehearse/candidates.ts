import { loadPolicy } from "../policy-file/load-policy.ts";
import { formatProblems } from "../policy-file/problem.ts";
import type { ServiceConfig } from "../proxy/config.ts";
import { CommandFailure } from "../terminal/failure.ts";
import { createPalette } from "../terminal/palette.ts";
import { type Candidate, hasWeights, type RehearsedEndpoint } from "./rehearsal.ts";

export interface CandidateOptions {
  /** Default: the only one that a file has. */
  readonly service?: string | undefined;
  /** In place of the endpoints that the file lists. */
  readonly servers?: number | undefined;
}

/** Reads policy files. Fails with a `CommandFailure` that shows every mistake in them. */
export function readCandidates(files: readonly string[], options: CandidateOptions): Candidate[] {
  return files.map((file) => {
    const reading = loadPolicy(file);
    if (!reading.ok)
      throw new CommandFailure(
        // Without colour: a failure is not trusted with commands to the terminal.
        `${file} cannot be used\n\n${formatProblems(reading.problems, createPalette(false))}\n`,
        "Mend the mistakes above; check with `bobtail check`.",
      );
    const service = serviceOf(file, reading.config.services, options.service);
    return {
      name: file,
      options: service.options,
      endpoints: endpointsOf(file, service, options.servers),
    };
  });
}

const PLAIN: RehearsedEndpoint = { weight: 1, virtual: false };

function endpointsOf(
  file: string,
  service: ServiceConfig,
  servers: number | undefined,
): RehearsedEndpoint[] {
  const listed = service.endpoints.map(({ weight = 1, virtual = false }) => ({ weight, virtual }));
  if (servers === undefined || servers === listed.length) return listed;
  const said = listed.some(({ virtual }) => virtual) ? "a virtual one" : "weights";
  if (said === "a virtual one" || hasWeights(listed))
    throw new CommandFailure(
      `--servers ${servers}: ${file} lists ${listed.length} endpoints with ${said}, and other servers have none`,
      "Leave --servers out, or list so many endpoints in the file.",
    );
  return Array.from({ length: servers }, () => PLAIN);
}

function serviceOf(
  file: string,
  services: Readonly<Record<string, ServiceConfig>>,
  wanted: string | undefined,
): ServiceConfig {
  const names = Object.keys(services);
  const name = wanted ?? (names.length === 1 ? names[0] : undefined);
  const service = name !== undefined && Object.hasOwn(services, name) ? services[name] : undefined;
  if (service !== undefined) return service;
  throw new CommandFailure(
    wanted === undefined
      ? `${file} has ${names.length} services`
      : `${file} has no service ${wanted}`,
    names.length === 0 ? "Add one under `services`." : `Name one: --service ${names.join(" or ")}.`,
  );
}
