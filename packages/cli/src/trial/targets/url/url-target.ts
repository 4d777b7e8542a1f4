import { CommandFailure } from "../../../terminal/failure.ts";
import type { TrialTarget } from "../target.ts";
import { pointingText } from "./pointing.ts";

/**
 * Somebody else's balancer, which is neither started nor stopped here. Its owner must point it at the fleet:
 * `config` is the address list in several dialects. `start` does not look whether it was done.
 *
 * Throws a {@link CommandFailure} for what is no `http:` URL.
 */
export function urlTarget(written: string): TrialTarget {
  const url = readUrl(written);
  return {
    name: url,
    title: `the balancer at ${url}`,
    family: "url",
    notes: ["Its configuration is its owner's and was not looked at."],
    find: () => Promise.resolve({ version: "not known", path: url }),
    config: (backends) => pointingText(backends),
    start: (backends) =>
      Promise.resolve({
        url,
        pid: undefined,
        config: pointingText(backends),
        stop: () => Promise.resolve(),
      }),
  };
}

function readUrl(written: string): string {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url?.protocol === "https:")
    throw new CommandFailure(
      `--url ${written}: a trial speaks plain HTTP, and not TLS`,
      "Give an address where the balancer listens without TLS, as http://127.0.0.1:8080.",
    );
  if (url?.protocol !== "http:")
    throw new CommandFailure(
      `--url ${written} is not the address of a balancer`,
      /^[\w.-]+:\d+$/.test(written)
        ? `Write http://${written}.`
        : "Write it as http://127.0.0.1:8080.",
    );
  if (url.pathname !== "/" || url.search !== "" || url.username !== "") {
    throw new CommandFailure(
      `--url ${written} has more than an address`,
      `The trial asks for paths of its own: write it as ${url.origin}.`,
    );
  }
  return url.origin;
}
