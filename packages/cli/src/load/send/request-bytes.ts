import type { PlannedTarget } from "../planned-target.ts";

/** Methods whose requests say that they have no body when they have none (RFC 9110, 8.6). */
const WITH_LENGTH: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/** A request as it is on the wire, made once: text where there is no body, which is the faster to write. */
export function requestBytes(target: PlannedTarget): string | Buffer {
  const { method, path, headers, body } = target;
  const fields: Record<string, string> = {
    host: new URL(target.origin).host,
    "user-agent": "bobtail",
    accept: "*/*",
    ...headers,
  };
  if (body !== undefined || WITH_LENGTH.has(method))
    fields["content-length"] = String(body?.length ?? 0);
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return body === undefined ? head : Buffer.concat([Buffer.from(head, "latin1"), body]);
}
