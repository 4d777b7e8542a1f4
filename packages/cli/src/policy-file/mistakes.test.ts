import { describe, expect, test } from "vitest";
import { mistakes, TWO_ENDPOINTS, withService } from "./policy-text.testbed.ts";

const SERVICE = `services: { s: { ${TWO_ENDPOINTS} } }\n`;
const many = Array.from({ length: 65 }, (_, i) => `http://h:${i + 1}`).join(", ");

/** What is wrong, the text, and the place and reason that must be reported, alone. */
const CASES: readonly (readonly [mistake: string, text: string, report: string])[] = [
  ["unknown key", `${SERVICE}servces: 1`, '2:1 unknown key "servces"'],
  ["missing key", "services: { s: {} }", '1:13 the key "endpoints" is missing'],
  ["no services at all", "admin: { address: :1 }", '1:1 the key "services" is missing'],
  ["empty services", "services: {}", "1:11 there is no service"],
  ["services is a list", "services: []", "1:11 expected a mapping, received a list"],
  ["the file is a list", "- a", "1:1 expected a mapping, received a list"],
  ["the file is a word", "hello", '1:1 expected a mapping, received "hello"'],
  [
    "bad service name",
    `services: { "a b": { ${TWO_ENDPOINTS} } }`,
    "1:13 a service's name has letters, digits, dots, dashes and underscores, at most 63",
  ],
  [
    "duplicate key",
    withService(TWO_ENDPOINTS, "deadline: 1s", "deadline: 2s"),
    '5:5 the key "deadline" is given twice, first on line 4',
  ],
  [
    "prototype key",
    withService(TWO_ENDPOINTS, "__proto__: { a: 1 }"),
    '4:5 unknown key "__proto__"',
  ],
  [
    "merge key",
    `services:\n  a: &a { ${TWO_ENDPOINTS} }\n  b: { ${TWO_ENDPOINTS}, <<: *a }`,
    '3:67 unknown key "<<"',
  ],
  ["no endpoint", withService("endpoints: []"), "3:16 expected at least one item"],
  [
    "endpoints not a list",
    withService("endpoints: http://h:1"),
    '3:16 expected a list, received "http://h:1"',
  ],
  [
    "two equal endpoints",
    withService("endpoints: [http://h:80, http://H/]"),
    "3:30 the endpoint http://h is listed twice",
  ],
  ["credentials", withService("endpoints: [http://a:b@h:1]"), "3:17 credentials in a URL"],
  [
    "query in a URL",
    withService("endpoints: [http://h:1/?a]"),
    "3:17 an endpoint's address has no room for a query",
  ],
  [
    "fragment in a URL",
    withService("endpoints: ['http://h:1/#a']"),
    "3:17 an endpoint's address has no room for a fragment",
  ],
  [
    "path in a URL",
    withService("endpoints: [http://h:1/a]"),
    "3:17 an endpoint's address has no room for a path",
  ],
  ["no scheme", withService("endpoints: [h:1]"), '3:17 "h:1" has no scheme'],
  [
    "other scheme",
    withService("endpoints: [unix://h]"),
    "3:17 the scheme unix:// is not supported",
  ],
  [
    "weight of zero",
    withService("endpoints: [{ url: http://h:1, weight: 0 }]"),
    "3:44 expected a number above 0, at most 1000000, received the number 0",
  ],
  [
    "negative weight",
    withService("endpoints: [{ url: http://h:1, weight: -1 }]"),
    "3:44 expected a number above 0, at most 1000000, received the number -1",
  ],
  [
    "virtual not a boolean",
    withService("endpoints: [{ url: http://h:1, virtual: on }]"),
    '3:45 expected true or false, received "on"',
  ],
  [
    "least over 64 endpoints",
    withService(`endpoints: [${many}]`, "balance: { policy: least }"),
    "4:24 least scans every endpoint: at most 64, here are 65",
  ],
  [
    "unknown policy",
    withService(TWO_ENDPOINTS, "balance: { policy: leest }"),
    '4:24 expected one of two-choices, least, round-robin, random, received "leest"',
  ],
  [
    "policy of a later version",
    withService(TWO_ENDPOINTS, "balance: { policy: prequal }"),
    '4:24 "prequal" is not supported yet in this version',
  ],
  [
    "health of a later version",
    withService(TWO_ENDPOINTS, "health: { path: /healthz }"),
    "4:5 `health` is not supported yet in this version",
  ],
  [
    "outlier of a later version",
    withService(TWO_ENDPOINTS, "outlier: { latency: on }"),
    "4:5 `outlier` is not supported yet in this version",
  ],
  [
    "probation of a later version",
    withService(TWO_ENDPOINTS, "probation: {}"),
    "4:5 `probation` is not supported yet in this version",
  ],
  [
    "subset of a later version",
    withService(TWO_ENDPOINTS, "subset: {}"),
    "4:5 `subset` is not supported yet in this version",
  ],
  [
    "discover of a later version",
    withService("endpoints: [{ url: http://h:1, discover: {} }]"),
    "3:36 `discover` is not supported yet in this version",
  ],
  [
    "hedge without a budget",
    withService(TWO_ENDPOINTS, "hedge: auto"),
    "4:12 a hedge without a budget",
  ],
  [
    "hedge with an empty budget",
    withService(TWO_ENDPOINTS, "hedge: auto", "budget: { extra: 0 }"),
    "5:22 a hedge without a budget: extra is 0",
  ],
  [
    "hedge beyond the deadline",
    withService(TWO_ENDPOINTS, "hedge: 2s", "budget: {}", "deadline: 2s"),
    "4:12 a hedge delay of 2000 ms is not below the deadline of 2000 ms: no hedge would ever be sent",
  ],
  [
    "hedge beyond the default deadline",
    withService(TWO_ENDPOINTS, "hedge: { after: 30s }", "budget: {}"),
    "4:21 a hedge delay of 30000 ms is not below the deadline of 30000 ms: no hedge would ever be sent",
  ],
  [
    "floor beyond the deadline",
    withService(TWO_ENDPOINTS, "hedge: { after: auto, floor: 2s }", "budget: {}", "deadline: 1s"),
    "4:34 a hedge floor of 2000 ms is not below the deadline of 1000 ms: no hedge would ever be sent",
  ],
  [
    "more hedges than endpoints",
    withService(TWO_ENDPOINTS, "hedge: { after: auto, max: 2 }", "budget: {}"),
    "4:32 2 hedges a call, but only 1 other endpoint to send them to",
  ],
  [
    "hedge with one endpoint",
    withService("endpoints: [http://h:1]", "hedge: auto", "budget: {}"),
    "4:12 1 hedge a call, but only 0 other endpoints to send it to",
  ],
  [
    "floor of a fixed delay",
    withService(TWO_ENDPOINTS, "hedge: { after: 5ms, floor: 1ms }", "budget: {}"),
    "4:33 floor and ceiling bound adaptive delays only",
  ],
  [
    "ceiling below the floor",
    withService(TWO_ENDPOINTS, "hedge: { after: p97, floor: 9ms, ceiling: 8ms }", "budget: {}"),
    "4:47 a ceiling of 8 ms is below the floor of 9 ms",
  ],
  [
    "floor given twice",
    withService(
      TWO_ENDPOINTS,
      "hedge: { after: { after: p97, floor: 9ms }, floor: 8ms }",
      "budget: {}",
    ),
    "4:56 the same bound is given twice",
  ],
  [
    "no percentile",
    withService(TWO_ENDPOINTS, "hedge: p0", "budget: {}"),
    '4:12 "p0" is not a percentile between p0 and p100',
  ],
  [
    "no delay",
    withService(TWO_ENDPOINTS, "hedge: soon", "budget: {}"),
    '4:12 expected auto, a percentile or a duration, received "soon"',
  ],
  [
    "ratio out of range",
    withService(TWO_ENDPOINTS, "budget: { extra: 300% }"),
    '4:22 "300%" is out of range: a ratio from 0 to 2 (0% to 200%)',
  ],
  [
    "burst not whole",
    withService(TWO_ENDPOINTS, "budget: { burst: 1.5 }"),
    "4:22 expected a whole number from 1 to 10000, received the number 1.5",
  ],
  [
    "ceiling of a budget below its floor",
    withService(TWO_ENDPOINTS, "budget: { minPerSecond: 5, maxPerSecond: 1 }"),
    "4:46 the ceiling of 1 a second is below the floor of 5",
  ],
  [
    "retry of a success",
    withService(TWO_ENDPOINTS, "retry: { on: [200] }"),
    "4:19 expected a status from 400 to 599, connect-failure or reset, received the number 200",
  ],
  ["deadline of zero", withService(TWO_ENDPOINTS, "deadline: 0s"), "4:15 must be longer than 0"],
  [
    "empty value",
    withService(TWO_ENDPOINTS, "deadline:"),
    "4:14 expected a duration, received nothing",
  ],
  [
    "size without a unit",
    withService(TWO_ENDPOINTS, "limit: { replayBody: 64K }"),
    '4:26 expected a size in whole bytes, received "64K"',
  ],
  [
    "tls without https",
    withService(TWO_ENDPOINTS, "tls: { serverName: a }"),
    "4:10 tls has no effect: no endpoint's address begins with https",
  ],
  [
    "commit",
    withService(TWO_ENDPOINTS, "commit: body"),
    '4:13 expected one of auto, headers, first-byte, received "body"',
  ],
  [
    "unknown service",
    `listen: { address: :1, service: t }\n${SERVICE}`,
    '1:33 no service is named "t"',
  ],
  [
    "route to an unknown service",
    `listen: { address: :1, routes: [{ service: t }] }\n${SERVICE}`,
    '1:44 no service is named "t"',
  ],
  [
    "listener without a service",
    `listen: { address: :1 }\n${SERVICE}`,
    "1:9 a listener needs a service or routes",
  ],
  [
    "listener with both",
    `listen: { address: :1, service: s, routes: [{ service: s }] }\n${SERVICE}`,
    "1:33 a listener has a service or routes, not both",
  ],
  [
    "two listeners on one address",
    `listen: [{ address: h:1, service: s }, { address: h:1, service: s }]\n${SERVICE}`,
    "1:51 h:1 is taken by the listener on h:1",
  ],
  [
    "admin on a listener's address",
    `listen: { address: :1, service: s }\nadmin: { address: localhost:1 }\n${SERVICE}`,
    "2:19 localhost:1 is taken by the listener on :1",
  ],
  [
    "route never reached",
    `listen: { address: :1, routes: [{ service: s }, { path: /a, service: s }] }\n${SERVICE}`,
    "1:49 this route is never reached: route 1 takes its requests",
  ],
  [
    "address is a number",
    `listen: { address: 8080, service: s }\n${SERVICE}`,
    "1:20 expected an address, received the number 8080",
  ],
  [
    "port out of range",
    `admin: { address: h:99999 }\n${SERVICE}`,
    "1:19 port 99999 is above 65535",
  ],
  [
    "headers longer than the request",
    `client: { request: 5s }\n${SERVICE}`,
    "1:20 a whole request may take 5000 ms, but its headers alone 10000 ms",
  ],
  [
    "header size of zero",
    `client: { headerSize: 0 }\n${SERVICE}`,
    "1:23 the number 0 is out of range: a size from 1024 to 1048576 bytes",
  ],
  [
    "block of addresses",
    `trust: [10.0.0.0/33]\n${SERVICE}`,
    '1:9 expected a block of addresses, received "10.0.0.0/33"',
  ],
];

describe("a mistake is reported at its place with its reason, alone:", () => {
  test.each(CASES)("%s", (_mistake, text, report) => {
    expect(mistakes(text)).toEqual([report]);
  });
});

test("a virtual endpoint takes every hedge", () => {
  const text = withService(
    "endpoints: [{ url: http://h:1, virtual: true }]",
    "hedge: { after: auto, max: 4 }",
    "budget: {}",
  );
  expect(mistakes(text)).toEqual([]);
});

test("two listeners may both ask for any free port", () => {
  const listen = "listen: [{ address: h:0, service: s }, { address: h:0, service: s }]\n";
  expect(mistakes(listen + SERVICE)).toEqual([]);
});
