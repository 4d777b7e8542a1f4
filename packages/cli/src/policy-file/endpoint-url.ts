import { no, type Reading, show } from "./units.ts";

/** The address of an endpoint: scheme, host and port, nothing else. The value is its origin. */
export function readEndpointUrl(written: unknown): Reading<string> {
  const example = "Write http://host:port or https://host:port.";
  if (typeof written !== "string") {
    return no(`expected the address of an endpoint, received ${show(written)}`, example);
  }
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) {
    const bare = /^[A-Za-z0-9_.[\]:-]+$/.test(written);
    return no(`${show(written)} has no scheme`, bare ? `Write http://${written}.` : example);
  }
  const url = /[\s\\]/.test(written) || !URL.canParse(written) ? undefined : new URL(written);
  if (url === undefined) return no(`${show(written)} is not a URL`, example);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return no(`the scheme ${url.protocol}// is not supported`, example);
  }
  if (url.username !== "" || url.password !== "") {
    const remedy = "Remove them: the file is read by many. Send them in a header from the client.";
    return no("credentials in a URL", remedy);
  }
  const found =
    url.search !== "" || written.includes("?")
      ? "a query"
      : url.hash !== "" || written.includes("#")
        ? "a fragment"
        : url.pathname !== "/"
          ? "a path"
          : undefined;
  if (found !== undefined) {
    const remedy = `Write ${url.origin}; requests bring their own path and query.`;
    return no(`an endpoint's address has no room for ${found}`, remedy);
  }
  if (url.port === "0") return no("port 0 cannot be connected to", example);
  return { ok: true, value: url.origin };
}
