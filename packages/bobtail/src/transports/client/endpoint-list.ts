import { BobtailError, checkOption } from "../../core/errors.ts";
import type { EndpointOptions } from "../../policies/endpoint.ts";

/** An endpoint that is an HTTP origin. A string or a `URL` alone stands for `{ url }`. */
export interface UrlEndpoint {
  /** `http://10.0.0.1:8080`: scheme, host and port, without credentials, path or query. */
  readonly url: string | URL;
  /** The key by which what was learnt survives an update; default the origin. */
  readonly name?: string | undefined;
  /** Share of traffic relative to the others; above 0, default 1. */
  readonly weight?: number | undefined;
  /** One address that stands for several servers; default false. A hedge may then go to the same address. */
  readonly virtual?: boolean | undefined;
}

/** An endpoint that is whatever the function of a call talks to: a pool, a client, a worker. */
export interface TargetEndpoint<R> extends EndpointOptions {
  /** Handed to the function as it is. */
  readonly target: R;
}

/** What the function of a call is given where endpoints are URLs. */
export interface Origin {
  readonly name: string;
  /** Without a slash at its end: `http://10.0.0.1:8080`. */
  readonly url: string;
}

/** An endpoint after its options were checked. */
export interface ListedEndpoint<R> {
  readonly options: EndpointOptions;
  readonly target: R;
  /** Only where endpoints are URLs. */
  readonly url: URL | undefined;
}

const URL_KEYS: readonly string[] = ["url", "name", "weight", "virtual"];
const TARGET_KEYS: readonly string[] = ["name", "target", "weight", "virtual"];

/** Throws `ERR_BOBTAIL_OPTION` for the first endpoint that is neither an origin nor a named target. */
export function listEndpoints(endpoints: unknown): ListedEndpoint<unknown>[] {
  checkOption(
    { endpoints },
    "a list of URLs, { url } or { name, target }",
    Array.isArray(endpoints),
  );
  const listed = (endpoints as readonly unknown[]).map((endpoint, i) =>
    list(endpoint, `endpoints[${i}]`),
  );
  const mixed = new Set(listed.map((e) => e.url === undefined)).size > 1;
  checkOption({ endpoints }, "either URLs or { name, target }, not both", !mixed);
  return listed;
}

function list(endpoint: unknown, path: string): ListedEndpoint<unknown> {
  if (typeof endpoint === "string" || endpoint instanceof URL)
    return listUrl({ url: endpoint }, path);
  const isObject = typeof endpoint === "object" && endpoint !== null;
  checkOption({ [path]: endpoint }, "a URL, { url } or { name, target }", isObject);
  const given = endpoint as object;
  const hasTarget = "target" in given;
  for (const key of Object.keys(given)) {
    const known = hasTarget ? TARGET_KEYS : URL_KEYS;
    checkOption({ [`${path}.${key}`]: key }, `one of ${known.join(", ")}`, known.includes(key));
  }
  if (!hasTarget) return listUrl(given as UrlEndpoint, path);
  const { target, name, weight, virtual } = given as TargetEndpoint<unknown>;
  checkOption({ [`${path}.name`]: name }, "a name", typeof name === "string" && name !== "");
  return { options: { name, weight, virtual }, target, url: undefined };
}

function listUrl(endpoint: UrlEndpoint, path: string): ListedEndpoint<Origin> {
  const url = parseOrigin(endpoint.url, `${path}.url`);
  const name = endpoint.name ?? url.origin;
  checkOption({ [`${path}.name`]: name }, "a name", typeof name === "string" && name !== "");
  const options = { name, weight: endpoint.weight, virtual: endpoint.virtual };
  return { options, target: Object.freeze({ name, url: url.origin }), url };
}

/** `path` names the option in the error. Throws `ERR_BOBTAIL_OPTION`. */
export function parseOrigin(text: string | URL, path: string): URL {
  if (!URL.canParse(String(text))) throw originError(text, path, "which is no absolute URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw originError(text, path, "with credentials, which belong in a header");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw originError(text, path, `whose scheme is ${url.protocol}`);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw originError(text, path, "with a path or query, which belong in each request");
  return url;
}

function originError(text: string | URL, path: string, why: string): BobtailError {
  const expected = "an origin such as http://10.0.0.1:8080";
  // A message may be logged, and what stands before an @ is a secret, in a URL that cannot be read too.
  const received = String(text).replace(/^([^/]*\/\/)?.*@/s, "$1***@");
  return new BobtailError(
    "ERR_BOBTAIL_OPTION",
    `${path}: expected ${expected}, received ${JSON.stringify(received)}, ${why}`,
    { option: path, expected, received },
  );
}
