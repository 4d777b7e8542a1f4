import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { nearest } from "../../policy-file/nearest.ts";
import { CommandFailure } from "../../terminal/failure.ts";
import type { LoadTarget } from "../load-options.ts";
import type { LoadFlags } from "./load-flags.ts";

const MAX_BODY_BYTES = 64 * 1_024 * 1_024;
const EXAMPLE = "Write http://127.0.0.1:8080/path.";

/** The requests that the URLs and flags ask for. Throws a {@link CommandFailure} for the first one that means nothing. */
export function readTargets(urls: readonly string[], flags: LoadFlags): readonly LoadTarget[] {
  const headers = readHeaders(flags.header ?? []);
  const body = flags.body === undefined ? undefined : readBody(flags.body);
  const { method, weights } = flags;
  if (weights !== undefined && weights.length !== urls.length)
    throw new CommandFailure(
      `--weights: ${counted(weights.length, "weight")} for ${counted(urls.length, "URL")}`,
      "Give one for each URL, in their order. In a --urls file the weight stands before the URL.",
    );
  const shared = {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body }),
  };
  const named = urls.map((url, i) => ({
    ...shared,
    url: checkUrl(url, url),
    ...(method !== undefined && { method }),
    ...(weights !== undefined && { weight: weights[i] as number }),
  }));
  const listed = flags.urls === undefined ? [] : readList(flags.urls, method);
  const all = [...named, ...listed.map((target) => ({ ...shared, ...target }))];
  if (all.length === 0) throw new CommandFailure("no URL to send to", EXAMPLE);
  return all;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `[weight] [method] URL` a line; `#` begins a comment. */
function readList(file: string, method: string | undefined): readonly LoadTarget[] {
  const targets: LoadTarget[] = [];
  for (const [i, line] of readFile("--urls", file).toString("utf8").split(/\r?\n/).entries()) {
    const text = line.trim();
    if (text === "" || text.startsWith("#")) continue;
    const place = `${file}:${i + 1}`;
    const parts = /^(?:(\d+(?:\.\d+)?)\s+)?(?:([A-Z]+)\s+)?(\S+)$/.exec(text);
    const [, weight, verb = method, url = ""] = parts ?? [];
    if (parts === null || (weight !== undefined && !(Number(weight) > 0)))
      throw new CommandFailure(
        `${place}: expected a URL`,
        "Write [weight] [METHOD] URL a line, as 3 GET http://127.0.0.1/a.",
      );
    targets.push({
      url: checkUrl(url, place),
      ...(verb !== undefined && { method: verb }),
      ...(weight !== undefined && { weight: Number(weight) }),
    });
  }
  if (targets.length === 0)
    throw new CommandFailure(`--urls ${file}: no URL in it`, "Write one a line.");
  return targets;
}

function checkUrl(url: string, place: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:")
    throw new CommandFailure(
      `${place.replace(/^.*@/s, "***@")}: this is not an http or https URL`,
      remedyFor(url),
    );
  if (parsed.username !== "" || parsed.password !== "")
    throw new CommandFailure(
      `${parsed.protocol}//***@${parsed.host}: a URL with a password in it`,
      "Send it as a header: -H 'authorization: Basic ...'.",
    );
  return url;
}

function remedyFor(url: string): string {
  if (/^[\w./-]+\.(json|hlog)$/i.test(url))
    return `To see a stored result: bobtail load report ${url}. To send to it: http://${url}.`;
  if (nearest(url, ["report"]) !== undefined)
    return `To see stored results: bobtail load report FILE. To send to it: http://${url}.`;
  const port = /^(?:https?:\/\/)?[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(url)?.[1];
  if (port !== undefined && Number(port) > 65_535) return "A port is at most 65535.";
  return /^[\w.-]+(:\d+)?(\/\S*)?$/.test(url) ? `Write http://${url}.` : EXAMPLE;
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [i, line] of lines.entries()) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim();
    if (name === "")
      throw new CommandFailure(
        `-H number ${i + 1}: no name before a colon (it is not shown: it may be a secret)`,
        "Write -H 'name: value'.",
      );
    headers[name] = line.slice(colon + 1).trim();
  }
  return headers;
}

function readBody(written: string): Uint8Array {
  if (!written.startsWith("@")) return Buffer.from(written);
  const body = readFile("--body", written.slice(1));
  if (body.length > MAX_BODY_BYTES)
    throw new CommandFailure(`--body ${written}: larger than 64 MiB`, "Send less.");
  return body;
}

/** For `--ca`. What is no certificate would be passed over in silence, and every handshake fail. */
export function readCertificates(file: string): string {
  const pem = readFile("--ca", file).toString("utf8");
  try {
    new X509Certificate(pem);
  } catch {
    throw new CommandFailure(
      `--ca ${file}: this is no certificate`,
      "Name a PEM file of certificates.",
    );
  }
  return pem;
}

function readFile(option: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const reason = code === "ENOENT" ? "there is no such file" : `it cannot be read (${code})`;
    throw new CommandFailure(`${option} ${file}: ${reason}`, "Name a file that can be read.");
  }
}
