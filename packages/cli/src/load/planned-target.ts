import { validateHeaderName, validateHeaderValue } from "node:http";
import { checkOption } from "bobtail/engine";
import type { LoadOptions, LoadTarget } from "./load-options.ts";

const MAX_TARGETS = 10_000;
/** They say how the message is framed, which is the sender's. */
const FRAMING: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** {@link LoadTarget}, checked and with its defaults. */
export interface PlannedTarget {
  readonly url: string;
  /** `http://host:port`, what a connection is made to. */
  readonly origin: string;
  /** Path and query, as it is on the wire. */
  readonly path: string;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly weight: number;
}

/** Throws `ERR_BOBTAIL_OPTION` for the first option out of range. */
export function checkTargets(options: Pick<LoadOptions, "url" | "targets">): PlannedTarget[] {
  const { url, targets = [{ url: url ?? "" }] } = options;
  checkOption(
    { targets: targets.length },
    `1 to ${MAX_TARGETS} of them, or a url`,
    targets.length >= 1 &&
      targets.length <= MAX_TARGETS &&
      (url === undefined || options.targets === undefined),
  );
  return targets.map(checkTarget);
}

function checkTarget(target: LoadTarget): PlannedTarget {
  const { body, weight = 1, method = body === undefined ? "GET" : "POST" } = target;
  const url = URL.canParse(target.url) ? new URL(target.url) : undefined;
  const { protocol, username = "", password = "" } = url ?? {};
  checkOption(
    { url: target.url },
    "an http or https URL without a user name",
    (protocol === "http:" || protocol === "https:") && username === "" && password === "",
  );
  checkOption({ weight }, "a number above 0", weight > 0 && Number.isFinite(weight));
  checkOption(
    { method },
    "an HTTP method other than CONNECT",
    /^[!#$%&'*+.^_`|~\w-]+$/.test(method) && method.toUpperCase() !== "CONNECT",
  );
  return {
    url: target.url,
    origin: url?.origin ?? "",
    path: `${url?.pathname ?? "/"}${url?.search ?? ""}`,
    method,
    headers: checkHeaders(target.headers ?? {}),
    body,
    weight,
  };
}

function checkHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    checkOption({ header: name }, "one that is not about framing", !FRAMING.has(lower));
    // Its value may be a secret, and is not repeated.
    checkOption({ header: name }, "a name and a value that HTTP allows", isHeader(name, value));
    checked[lower] = value;
  }
  return checked;
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
