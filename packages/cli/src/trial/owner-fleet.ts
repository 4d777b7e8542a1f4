import { get } from "node:http";
import type { Fleet } from "../fleet/fleet.ts";
import { CommandFailure } from "../terminal/failure.ts";

const PROBE_EVERY_MS = 500;
const PROBE_TIMEOUT_MS = 5_000;
/** Enough that even a random choice leaves none of them out: (1 - 1/n)^(20 n) is below 1e-8. */
const PROBES_PER_BACKEND = 20;
const PROBES_AT_ONCE = 20;
const PROBE_PATH = "/bobtail-trial-probe";

/** What one probe met. */
type ProbeResult =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "failed"; readonly why: string };

export interface ReachOptions {
  readonly url: string;
  /** How long the balancer may take to find the fleet. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends a probe until one reaches the fleet, then as many as it takes to see who is left out.
 *
 * @returns what to warn of: backends that no probe reached. Throws a {@link CommandFailure} when none did in time.
 */
export async function checkReach(fleet: Fleet, options: ReachOptions): Promise<readonly string[]> {
  const before = await receivedBy(fleet);
  await waitForReach(fleet, options);
  const received = async (): Promise<number[]> => diff(await receivedBy(fleet), before);
  let sent = 1;
  const most = PROBES_PER_BACKEND * before.length;
  while (sent < most && (await received()).includes(0) && !options.signal.aborted) {
    const some = Math.min(PROBES_AT_ONCE, most - sent);
    await Promise.all(Array.from({ length: some }, () => sendProbe(options)));
    sent += some;
  }
  return options.signal.aborted ? [] : partlyReached(await received(), fleet.urls, sent);
}

/** Sends a probe until one reaches the fleet. Throws a {@link CommandFailure} when none did in time. */
export async function waitForReach(fleet: Fleet, options: ReachOptions): Promise<void> {
  const { waitMs, signal } = options;
  const before = sum(await receivedBy(fleet));
  const untilMs = performance.now() + waitMs;
  while (!signal.aborted) {
    const last = await sendProbe(options);
    if (sum(await receivedBy(fleet)) > before) return;
    if (performance.now() >= untilMs) throw neverReached(options, last);
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
}

function sendProbe({ url, signal }: ReachOptions): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const request = get(
      `${url}${PROBE_PATH}`,
      // Many listeners on one signal would be told as a leak.
      { agent: false, timeout: PROBE_TIMEOUT_MS, signal: AbortSignal.any([signal]) },
      (response) => {
        response.resume();
        response.on("error", () => {});
        response.on("close", () => resolve({ kind: "answered", status: response.statusCode ?? 0 }));
      },
    );
    request.on("timeout", () => request.destroy(new Error("no answer within 5 s")));
    request.on("error", (error) => resolve({ kind: "failed", why: error.message }));
  });
}

function neverReached({ url, waitMs }: ReachOptions, last: ProbeResult): CommandFailure {
  const met =
    last.kind === "answered"
      ? `the last probe was answered with status ${last.status}, by something that is not the fleet`
      : `the last probe failed: ${last.why}`;
  return new CommandFailure(
    `${url} never reached the fleet within ${waitMs / 1_000} s; ${met}`,
    "Point it at the backends named above (--ports chooses them), for every path, and see that the balancer runs on this machine.",
  );
}

/** Nothing where every backend received a probe. */
function partlyReached(
  received: readonly number[],
  urls: readonly string[],
  sent: number,
): readonly string[] {
  const missed = urls.filter((_, i) => received[i] === 0).map((url) => new URL(url).host);
  if (missed.length === 0) return [];
  return [
    `it reaches ${urls.length - missed.length} of ${urls.length} backends: of ${sent} probes none came to ${missed.join(", ")}. ` +
      "They may be missing from its configuration, be marked as down, or be left out by affinity to the client; the grade is of what it did reach.",
  ];
}

async function receivedBy(fleet: Fleet): Promise<number[]> {
  return (await fleet.stats()).backends.map(({ received }) => received);
}

function diff(after: readonly number[], before: readonly number[]): number[] {
  return after.map((count, i) => count - (before[i] ?? 0));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
