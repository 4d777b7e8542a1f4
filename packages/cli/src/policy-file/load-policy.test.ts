import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPalette } from "../terminal/palette.ts";
import { loadPolicy, parsePolicy } from "./load-policy.ts";
import { mistakes, TWO_ENDPOINTS, withService } from "./policy-text.testbed.ts";
import { formatProblems } from "./problem.ts";

const FULL = `
listen:
  - { address: 127.0.0.1:8080, service: search }
  - address: "[::1]:8081"
    routes: [{ host: api.example.com, path: /v1, service: search, name: v1 }, { service: plain }]
admin: { address: :9901 }
trust: [10.0.0.0/8, ::1]
accessLog: stdout
client: { connections: 100, headerSize: 8KiB, headers: 5s, request: 1m, idle: 30s }
services:
  search:
    endpoints: [http://127.0.0.1:9001, { url: http://127.0.0.1:9002/, weight: 2, virtual: true }]
    balance: { policy: two-choices, load: peak-ewma, choices: 3, errorPenalty: false, decay: 5s }
    hedge: { after: p97, floor: 8ms, ceiling: 20ms, max: 1, minSamples: 50 }
    budget: { extra: 5%, burst: 20, minPerSecond: 1, maxPerSecond: 100 }
    retry: { max: 2, on: [connect-failure, reset, 502, 503] }
    deadline: 800ms
    timeout: { connect: 1s, attempt: 300ms, bodyIdle: 5s, keepAlive: 60s }
    limit: { outstanding: 512, perEndpoint: 64, pending: 0, replayBody: 64KiB }
    commit: first-byte
  plain: { endpoints: [http://h:1] }
`;

test("a policy file becomes the options of the library, in its units", () => {
  const reading = parsePolicy(FULL);
  expect(reading.ok && reading.config).toEqual({
    listeners: [
      { host: "127.0.0.1", port: 8080, service: "search" },
      {
        host: "::1",
        port: 8081,
        service: [
          { host: "api.example.com", path: "/v1", service: "search", name: "v1" },
          { service: "plain" },
        ],
      },
    ],
    admin: { host: "", port: 9901 },
    trust: ["10.0.0.0/8", "::1/128"],
    accessLog: "stdout",
    client: {
      connections: 100,
      headerBytes: 8192,
      headersMs: 5000,
      requestMs: 60_000,
      idleMs: 30_000,
    },
    services: {
      search: {
        endpoints: [
          { url: "http://127.0.0.1:9001" },
          { url: "http://127.0.0.1:9002", weight: 2, virtual: true },
        ],
        options: {
          balance: {
            policy: "two-choices",
            load: "peak-ewma",
            choices: 3,
            errorPenalty: false,
            decayMs: 5000,
          },
          hedge: {
            afterMs: { quantile: 0.97 },
            floorMs: 8,
            ceilingMs: 20,
            max: 1,
            minSamples: 50,
          },
          budget: { extraRatio: 0.05, burstCount: 20, minPerSecond: 1, maxPerSecond: 100 },
          retry: { max: 2, on: ["connect-failure", "reset", 502, 503] },
          deadlineMs: 800,
          timeout: { connectMs: 1000, attemptMs: 300, bodyIdleMs: 5000, keepAliveMs: 60_000 },
          limit: { outstanding: 512, perEndpoint: 64, pending: 0, replayBodyBytes: 65_536 },
        },
        commit: "first-byte",
      },
      plain: { endpoints: [{ url: "http://h:1" }], options: {} },
    },
  });
});

test("the short and the long forms of a hedge mean the same", () => {
  const hedge = (written: string) => {
    const reading = parsePolicy(withService(TWO_ENDPOINTS, `hedge: ${written}`, "budget: {}"));
    return reading.ok ? reading.config.services.s?.options.hedge : reading.problems;
  };
  expect(hedge("auto")).toEqual({ afterMs: "auto" });
  expect(hedge("12ms")).toEqual({ afterMs: 12 });
  expect(hedge("{ after: p99.9 }")).toEqual({ afterMs: { quantile: 0.999 } });
  expect(hedge("{ after: { after: p97, floor: 8ms } }")).toEqual(
    hedge("{ after: p97, floor: 8ms }"),
  );
});

test("JSON is read too, also when it is indented by tabs", () => {
  expect(mistakes('{\n\t"services": {\n\t\t"s": {"endpoints": ["http://h:1"]}\n\t}\n}\n')).toEqual(
    [],
  );
});

test("an anchor and its aliases give one value to several services", () => {
  const text = `services:\n  a: &a { ${TWO_ENDPOINTS} }\n  b: *a\n`;
  const reading = parsePolicy(text);
  expect(reading.ok && Object.keys(reading.config.services)).toEqual(["a", "b"]);
});

test("every mistake is reported at once, in the order of the file", () => {
  const text = withService(
    "endpoints: [http://h:1, ftp://h]",
    "ballance: { policy: least }",
    "hedge: { after: 40s, max: 3 }",
    "deadline: 30",
  );
  expect(mistakes(text)).toEqual([
    "3:29 the scheme ftp:// is not supported",
    '4:5 unknown key "ballance"',
    "5:12 a hedge without a budget",
    "5:31 3 hedges a call, but only 1 other endpoint to send them to",
    "6:15 a duration needs a unit, received the number 30",
  ]);
});

test("a report shows the place, the line with a caret, the reason and the remedy", () => {
  const reading = parsePolicy(withService("endpoint: [http://h:1]"), { file: "p.yaml" });
  expect(formatProblems(reading.ok ? [] : reading.problems, createPalette(false))).toBe(
    [
      'p.yaml:3:5: error: services.s: unknown key "endpoint"',
      "  3 |     endpoint: [http://h:1]",
      "    |     ^^^^^^^^",
      '  Did you mean "endpoints"?',
    ].join("\n"),
  );
});

test("no report ever shows a password or a key", () => {
  const texts = [
    withService("endpoints: [http://bob:hunter2@h:1]"),
    withService("endpoints: [http://bob:hunter2@h:1, 5, {url: http://bob:hunter2@h, weight: 0}]"),
    withService("endpoints: [https://h:1]", 'tls: { ca: "-----BEGIN hunter2" }'),
    withService("endpoints: ftp://bob:hunter2@h"),
    withService(`endpoints: [ftp://bob:${"hunter2".repeat(20)}@h]`),
    `listen: { address: http://bob:hunter2@h:1, service: s }\n${withService(TWO_ENDPOINTS)}`,
    withService(`endpoints: [${"h, ".repeat(500)}http://bob:hunter2@h, x]`),
  ];
  for (const text of texts) {
    const reading = parsePolicy(text);
    const report = formatProblems(reading.ok ? [] : reading.problems, createPalette(false));
    expect(report).not.toBe("");
    expect(report).not.toContain("hunter2");
  }
});

test("TLS files are read relative to the policy file, and a missing one is told at its place", () => {
  const folder = mkdtempSync(join(tmpdir(), "bobtail-policy-"));
  try {
    const pem = fixture("tls-authority.pem");
    writeFileSync(join(folder, "ca.pem"), pem);
    writeFileSync(join(folder, "not.pem"), "nothing");
    const file = join(folder, "p.yaml");
    const endpoints = "endpoints: [https://10.0.0.1:443]";
    writeFileSync(file, withService(endpoints, "tls: { ca: ca.pem, serverName: search }"));
    const good = loadPolicy(file);
    expect(good.ok && good.config.services.s?.tls).toEqual({ ca: pem, serverName: "search" });
    expect(good.files).toEqual([join(folder, "ca.pem")]);

    writeFileSync(file, withService(endpoints, "tls: { ca: no.pem, cert: not.pem, key: ca.pem }"));
    const bad = loadPolicy(file);
    expect(bad.ok ? [] : bad.problems.map((p) => `${p.line}:${p.column} ${p.path}`)).toEqual([
      "4:16 services.s.tls.ca",
      "4:30 services.s.tls.cert",
      "4:44 services.s.tls.key",
    ]);
    expect(bad.files).toHaveLength(3);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ["a device that never ends", "ca: /dev/zero", "is not a regular file"],
  ["a certificate that is none", "ca: broken.pem", "holds no readable certificate"],
  ["a key that is none", "cert: cert.pem, key: cert.pem", "holds no readable private key"],
  ["a key of another certificate", "cert: cert.pem, key: other.pem", "not the key of the certif"],
])("TLS files that cannot be used are told when the policy is read: %s", (_, tls, reason) => {
  const folder = mkdtempSync(join(tmpdir(), "bobtail-policy-"));
  try {
    const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    writeFileSync(join(folder, "broken.pem"), broken);
    writeFileSync(join(folder, "cert.pem"), fixture("tls-client.pem"));
    writeFileSync(join(folder, "other.pem"), fixture("tls-server.key.pem"));
    const text = withService("endpoints: [https://10.0.0.1:443]", `tls: { ${tls} }`);
    const reading = parsePolicy(text, { folder });
    const reasons = reading.ok ? [] : reading.problems.map((problem) => problem.reason);
    expect(reasons).toEqual([expect.stringContaining(reason)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function fixture(name: string): string {
  return readFileSync(new URL(`../../../../test/fixtures/${name}`, import.meta.url), "utf8");
}
