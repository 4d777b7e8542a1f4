import type { LoadSection } from "../load-report.ts";
import type { RunRecord } from "./run-record.ts";

/** Whether requests were sent, and not one of them, in none of the runs, was answered well. */
export function isUnanswered(runs: readonly RunRecord[]): boolean {
  const ledgers = runs.map(({ measured }) => measured.ledger);
  return ledgers.some(({ sent }) => sent > 0) && ledgers.every(({ ok }) => ok === 0);
}

/** Where not one request ended well, or not one event came: a sentence that says where to look. Otherwise undefined. */
export function nothingAnswered(run: RunRecord): string | undefined {
  const { measured, setup } = run;
  if (isUnanswered([run])) {
    const { why, remedy } = whereToLook(run);
    return `Nothing was answered well: ${why}. ${remedy}`;
  }
  return measured.ledger.ok > 0 && setup.sse && measured.firstByte.count === 0
    ? "No event came: these answers are not event streams. Leave --sse out, or see the path."
    : undefined;
}

/** Of a run in which nothing was answered well. */
export function whereToLook({ measured, setup }: RunRecord): {
  /** Without a full stop. */
  readonly why: string;
  readonly remedy: string;
} {
  const { ledger, failures } = measured;
  if (ledger.httpErrors > 0)
    return {
      why: `the target runs, and its answers are errors (${mostFrequentStatus(measured)})`,
      remedy: "See the path, the method and what it asks for (-H, -d).",
    };
  const kind = [...failures].sort(([, a], [, b]) => b - a)[0]?.[0];
  if (kind === undefined)
    return { why: "the target answers too late or never", remedy: "See --timeout." };
  if (kind === "ECONNREFUSED")
    return { why: "nothing listens there", remedy: "See that the target runs, and its port." };
  if (kind === "ERR_SSL_WRONG_VERSION_NUMBER")
    return {
      why: "the target does not speak TLS",
      remedy: "Write http:// in place of https://.",
    };
  if (/CERT|ISSUER|ERR_TLS/.test(kind))
    return {
      why: "its certificate is not trusted",
      remedy: "Give the one that signed it by --ca FILE, or --insecure.",
    };
  if (setup.protocol === "http2" && kind.startsWith("ERR_HTTP2"))
    return { why: "the target may not speak HTTP/2", remedy: "Leave --http2 out." };
  return {
    why: `connections failed (${kind})`,
    remedy: "See that the target runs, and the address.",
  };
}

function mostFrequentStatus({ statuses }: LoadSection): string {
  const [status] = [...statuses].sort(([, a], [, b]) => b - a)[0] ?? [];
  return `status ${status ?? "not known"}`;
}
