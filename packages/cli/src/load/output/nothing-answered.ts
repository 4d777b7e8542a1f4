import type { LoadSection } from "../load-report.ts";
import type { RunRecord } from "./run-record.ts";

/** Where not one request ended well, or not one event came: a sentence that says where to look. Otherwise undefined. */
export function nothingAnswered({ measured, setup }: RunRecord): string | undefined {
  const { ok, sent } = measured.ledger;
  if (ok > 0 && setup.sse && measured.firstByte.count === 0)
    return "No event came: these answers are not event streams. Leave --sse out, or see the path.";
  if (ok > 0 || sent === 0) return undefined;
  return `Nothing was answered well: ${whereToLook(measured, setup.protocol)}`;
}

function whereToLook(
  { ledger, failures }: LoadSection,
  protocol: RunRecord["setup"]["protocol"],
): string {
  if (ledger.httpErrors > 0)
    return "the target runs, and its answers are errors. See the path, the method and what it asks for (-H, -d).";
  const kind = [...failures].sort(([, a], [, b]) => b - a)[0]?.[0];
  if (kind === undefined) return "the target answers too late or never. See --timeout.";
  if (kind === "ECONNREFUSED")
    return "nothing listens there. See that the target runs, and its port.";
  if (kind === "ERR_SSL_WRONG_VERSION_NUMBER")
    return "the target does not speak TLS. Write http:// in place of https://.";
  if (/CERT|ISSUER|ERR_TLS/.test(kind))
    return "its certificate is not trusted. Give the one that signed it by --ca FILE, or --insecure.";
  if (protocol === "http2" && kind.startsWith("ERR_HTTP2"))
    return "the target may not speak HTTP/2. Leave --http2 out.";
  return "see that the target runs, and the address.";
}
