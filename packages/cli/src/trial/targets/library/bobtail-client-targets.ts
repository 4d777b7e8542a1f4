import type { ServiceOptions } from "bobtail";
import { builtFile } from "../built-file.ts";
import { ownVersion } from "../own-version.ts";
import type { TrialTarget } from "../target.ts";
import { libraryTarget } from "./library-target.ts";

const HEDGED: ServiceOptions = { hedge: { afterMs: "auto" }, budget: { extraRatio: 0.05 } };

export function bobtailClientTargets(): readonly TrialTarget[] {
  return [
    target({
      name: "bobtail-client",
      title: "Bobtail's client, as it comes",
      role: "default",
      notes: ["Two choices on peak EWMA, one retry within a budget of 10 %, no hedging."],
      service: {},
    }),
    target({
      name: "bobtail-client/hedge",
      title: "Bobtail's client, hedging within 5 %",
      role: "best",
      notes: [
        "Two choices on peak EWMA, a second copy after a delay that Bobtail finds, one retry; both within a budget of 5 %.",
      ],
      service: HEDGED,
    }),
  ];
}

interface ClientTarget extends Pick<TrialTarget, "name" | "title" | "role" | "notes"> {
  readonly service: ServiceOptions;
}

function target({ service, ...words }: ClientTarget): TrialTarget {
  return libraryTarget({
    ...words,
    family: "bobtail-client",
    find: () =>
      Promise.resolve({ version: ownVersion(), path: builtFile("programs/bobtail-client.js") }),
    program: "bobtail-client",
    settings: () => ({ service }),
  });
}
