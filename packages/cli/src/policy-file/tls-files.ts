import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { ServiceConfig } from "../proxy/config.ts";
import { MAX_SOURCE_BYTES } from "./read-source.ts";
import type { Report } from "./report.ts";
import type { ServiceFile } from "./service-schema.ts";
import type { Tree } from "./tree.ts";

const FIELDS = ["ca", "cert", "key"] as const;

/** What the file names: their PEM texts by `service/field`, and their paths. */
export interface TlsFileTexts {
  readonly texts: ReadonlyMap<string, string>;
  readonly paths: readonly string[];
}

/** Reads the TLS files of every service. A text is a secret: no message ever shows it. */
export function readTlsFiles(root: Tree, folder: string, report: Report): TlsFileTexts {
  const texts = new Map<string, string>();
  const paths: string[] = [];
  for (const [service, tree] of root.children.get("services")?.children ?? []) {
    const tls = tree.children.get("tls");
    for (const field of FIELDS) {
      const at = tls?.children.get(field);
      if (at === undefined || typeof at.value !== "string" || at.value === "") continue;
      const path = ["services", service, "tls", field];
      const remedy = "Name a PEM file; names are relative to the policy file.";
      if (at.value.includes("-----BEGIN ")) {
        report(at, { path, reason: "this is a PEM text, not the name of a file", remedy });
        continue;
      }
      const file = resolve(folder, at.value);
      paths.push(file);
      const reading = readPem(file, field);
      if (reading.text === undefined) {
        report(at, { path, reason: `${JSON.stringify(file)} ${reading.reason}`, remedy });
      } else {
        texts.set(`${String(service)}/${field}`, reading.text);
      }
    }
    const [cert, key] = [texts.get(`${String(service)}/cert`), texts.get(`${String(service)}/key`)];
    const keyAt = tls?.children.get("key");
    if (keyAt === undefined || cert === undefined || key === undefined || fit(cert, key)) continue;
    report(keyAt, {
      path: ["services", service, "tls", "key"],
      reason: "this is not the key of the certificate in `cert`",
      remedy: "Name the two files of one pair.",
    });
  }
  return { texts, paths };
}

/** The service with the texts in place of the names. */
export function withTlsTexts(
  name: string,
  service: ServiceFile,
  texts: ReadonlyMap<string, string>,
): ServiceConfig {
  if (service.tls === undefined) return { ...service, tls: undefined };
  const [ca, cert, key] = FIELDS.map((field) => texts.get(`${name}/${field}`));
  return { ...service, tls: { ...service.tls, ca, cert, key } };
}

function readPem(file: string, field: (typeof FIELDS)[number]): { text?: string; reason: string } {
  try {
    const kind = statSync(file);
    // A device or a pipe may never end.
    if (!kind.isFile()) return { reason: "is not a regular file" };
    const text = kind.size <= MAX_SOURCE_BYTES ? readFileSync(file, "utf8") : "";
    if (!text.includes("-----BEGIN ")) return { reason: "is not a PEM file" };
    if (isReadable(text, field)) return { text, reason: "" };
    return { reason: `holds no readable ${field === "key" ? "private key" : "certificate"}` };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { reason: `cannot be read (${code === "ENOENT" ? "no such file" : code})` };
  }
}

/** Found out here, or every connection would fail. */
function isReadable(text: string, field: (typeof FIELDS)[number]): boolean {
  try {
    if (field === "key") createPrivateKey(text);
    else new X509Certificate(text);
    return true;
  } catch {
    return false;
  }
}

function fit(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}
