/** What a request line asks for. The authority is a name to route by, never an address to call. */
export interface RequestTarget {
  /** Begins with `/`; the query included. */
  readonly path: string;
  /** Given by an absolute-form target, which then stands in for the Host header. */
  readonly authority: string | undefined;
}

/**
 * `undefined` for a target that no server of ours could answer: `*`, an authority, another scheme.
 * Source: RFC 9112, section 3.2.
 */
export function parseTarget(target: string): RequestTarget | undefined {
  if (target.charCodeAt(0) === 47) return { path: target, authority: undefined };
  const match = /^https?:\/\/([^/?#@]+)([/?][^#]*)?$/i.exec(target);
  if (match === null) return undefined;
  const rest = match[2] ?? "/";
  return { path: rest.startsWith("/") ? rest : `/${rest}`, authority: match[1] };
}

/** Whether some server could read this as a path of Bobtail's own, however it is written. */
export function isOwnPath(path: string): boolean {
  if (!/bobtail|%/i.test(path)) return false;
  const plain = withoutQuery(path).replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const kept: string[] = [];
  for (const segment of plain.split(/[/\\]+/)) {
    if (segment === "..") kept.pop();
    else if (segment !== "." && segment !== "") kept.push(segment);
  }
  return kept[0]?.toLowerCase() === ".bobtail";
}

export function withoutQuery(path: string): string {
  const at = path.indexOf("?");
  return at < 0 ? path : path.slice(0, at);
}
