import { describe, expect, test } from "vitest";
import { readText, readTexts, skipsOf } from "./read.testbed.ts";

/** By HdrHistogramJS 3: 10, 20, ... 10,000 and three of 5,000,000; three digits. */
const THOUSAND =
  "HISTFAAAAEd4nJNpmSzMwMDuy8DAwMjAwMDMAAEgNsO1yUsYYHxhJsFROAghPxP7KByUkJWJgYl5FI/iUUw0ZmBiYhrmxMF+RjYAIQwibw==";
/** By the same: 0, 1,500, 123,456,789 and 9 x 10^9; two digits, lowest value 1,000. */
const COARSE = "HISTFAAAADB4nJNpmSzMwMDAycDAwMjAwMDEAAbMLxgYGMQ9yl4wQAEjEwPTeXGmzTxMAIB9Bak=";

const HLOG = `#[Histogram log format version 1.3]
#[StartTime: 1441812279.474 (seconds since epoch)]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
0.127,1.007,2.769,${THOUSAND}
`;

describe(".hlog", () => {
  test("gives the values that another program recorded", async () => {
    const log = await readText(HLOG, { unit: "us" });
    expect([log.count, log.formats]).toEqual([1_003, ["hlog"]]);
    for (const [q, us] of [
      [0.5, 5_023],
      [0.9, 9_031],
      [0.99, 9_935],
      [1, 5_001_215],
    ] as const)
      expect(Math.abs((log.latency.quantile(q) * 1_000) / us - 1)).toBeLessThan(0.001);
    expect(Math.abs((log.latency.meanMs * 1_000) / 19_943.5 - 1)).toBeLessThan(0.001);
  });

  test("gives those of a coarse histogram with a lowest value", async () => {
    const log = await readText(`1,1,1,${COARSE}\n`, { unit: "ns" });
    const ns = [0.25, 0.5, 0.75, 1].map((q) => log.latency.quantile(q) * 1e6);
    [511, 1_535, 123_731_967, 9_059_696_639].forEach((highest, i) => {
      // Theirs is the highest value of a bucket of 1 % (at least 512); ours its middle.
      expect(ns[i]).toBeLessThanOrEqual(highest + 1);
      expect(ns[i]).toBeGreaterThanOrEqual(highest - Math.max(512, highest * 0.01));
    });
  });

  test("needs its unit stated, by the user or in a comment", async () => {
    await expect(readText(HLOG)).rejects.toThrow("log:4: the unit of its values is not stated");
    const log = await readText(HLOG.replace("#[StartTime", "#[Unit: us]\n#[StartTime"));
    expect(log.count).toBe(1_003);
  });

  test("adds its intervals, or those of one tag", async () => {
    const text = `Tag=a,1,1,1,${THOUSAND}\nTag=b,2,1,1,${THOUSAND}\n3,1,1,${THOUSAND}\n`;
    const options = { unit: "us", format: "hlog" } as const;
    expect((await readText(text, options)).count).toBe(3_009);
    expect((await readText(text, { ...options, field: "b" })).count).toBe(1_003);
    await expect(readText(text, { ...options, field: "c" })).rejects.toThrow(
      "no interval of that tag",
    );
  });

  test("that begins without a tag is read without the tagged series beside it, unless one is named", async () => {
    const text = `1,1,1,${THOUSAND}\nTag=b,1,1,1,${THOUSAND}\n2,1,1,${THOUSAND}\n`;
    const options = { unit: "us", format: "hlog" } as const;
    expect((await readText(text, options)).count).toBe(2_006);
    expect((await readText(text, { ...options, field: "b" })).count).toBe(1_003);
  });

  test("that is corrupt fails with its place, whatever is wrong with it", async () => {
    const options = { unit: "us", format: "hlog" } as const;
    const cases: readonly [string, string][] = [
      [`1,1,1,${THOUSAND.slice(0, 60)}`, "cut short"],
      [`1,1,1,${THOUSAND.replace("JNpmSz", "JNpmXX")}`, "does not inflate"],
      ["1,1,1,AAAAAAAAAAAAAAAA", "not an HdrHistogram"],
      ["1,1,1,!!!", "not base64"],
      ["1,1", "fewer than four fields"],
    ];
    for (const [line, why] of cases)
      await expect(readText(`${HLOG}${line}\n`, options)).rejects.toThrow(
        `log:5: the histogram is corrupt: ${why}`,
      );
  });

  test("bytes changed at random never hang it or come through as an internal error", async () => {
    let state = 9;
    for (let run = 0; run < 300; run++) {
      const bytes = Buffer.from(THOUSAND, "base64");
      for (let i = 0; i < 3; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        bytes[state % bytes.length] = state >>> 24;
      }
      const text = `1,1,1,${bytes.toString("base64")}\n`;
      const outcome = await readText(text, { unit: "us", format: "hlog" }).catch((e: unknown) => e);
      if (outcome instanceof Error) expect(outcome.name).toBe("CommandFailure");
    }
  });
});

const METRICS = `# HELP rpc_duration_seconds Latency.
# TYPE rpc_duration_seconds histogram
rpc_duration_seconds_bucket{path="/a",le="0.01"} 80
rpc_duration_seconds_bucket{path="/a",le="0.1"} 95
rpc_duration_seconds_bucket{path="/a",le="+Inf"} 100
rpc_duration_seconds_sum{path="/a"} 3.2
rpc_duration_seconds_count{path="/a"} 100
rpc_duration_seconds_bucket{path="/b",le="0.01"} 100 1700000000000
rpc_duration_seconds_bucket{path="/b",le="0.1"} 100
rpc_duration_seconds_bucket{path="/b",le="+Inf"} 100
go_gc_pauses_bucket{le="1"} 3
`;

describe("a Prometheus histogram", () => {
  test("is summed over its labels, with the unit of its name", async () => {
    const log = await readText(METRICS);
    expect([log.count, log.bucketBounds, log.formats]).toEqual([200, 2, ["prometheus"]]);
    expect(log.latency.quantile(0.45)).toBeCloseTo(5, 6);
    expect(log.latency.survival(100)).toBeCloseTo(0.025, 12);
    expect(log.latency.quantile(0.99)).toBe(Number.POSITIVE_INFINITY);
  });

  test("is chosen by name where there are several", async () => {
    await expect(readText(METRICS, { field: "nothing" })).rejects.toThrow(
      "no histogram named nothing",
    );
    const two = METRICS.replaceAll("go_gc_pauses", "other_latency_seconds");
    await expect(readText(two)).rejects.toThrow(
      "2 histograms: rpc_duration_seconds, other_latency_seconds",
    );
    expect((await readText(two, { field: "rpc_duration_seconds_bucket" })).count).toBe(200);
  });

  test("that does not add up is refused with its reason", async () => {
    const refused = (from: string, to: string) =>
      expect(readText(METRICS.replace(from, to))).rejects;
    await refused('le="0.1"} 95', 'le="0.1"} 5').toThrow("fewer are at most 0.1 than at most 0.01");
    await refused('le="0.1"} 95', 'le="0.1"} NaN').toThrow(
      "log:4: a bucket of rpc_duration_seconds counts NaN",
    );
    await refused(',le="0.1"} 95', "} 95").toThrow(
      "log:4: a bucket of rpc_duration_seconds without a bound",
    );
    await refused('{path="/b",le="0.1"} 100\n', '{path="/b",le="0.2"} 100\n').toThrow(
      "different buckets",
    );
    await expect(readText(METRICS.replaceAll("_seconds", "_duration"))).rejects.toThrow(
      "states no unit",
    );
    const idle = METRICS.replace(/ \d+( 17\d+)?$/gm, " 0");
    await expect(readText(idle)).rejects.toThrow("holds nothing below its last bound");
  });

  test("cannot be mixed with latencies", async () => {
    const both = readTexts({ "a.prom": METRICS, "b.csv": "latency_ms\n1\n" });
    await expect(both).rejects.toThrow("cannot be mixed");
  });
});

const NGINX = `10.0.0.1 - - [10/Oct/2025:13:55:36 +0000] "GET /a HTTP/1.1" 200 612 "-" "curl" rt=0.250 urt="0.010, 0.200"
10.0.0.1 - - [10/Oct/2025:13:55:37 +0000] "GET /b HTTP/1.1" 499 0 "-" "curl" rt=1.500 urt="-"
10.0.0.1 - - [10/Oct/2025:13:55:37 +0000] "GET /b HTTP/1.1" 200 0 "-" "curl"
`;

describe("access logs", () => {
  test("of nginx are read with their times, and a client that left counts as a call cut short", async () => {
    const log = await readText(NGINX);
    expect([log.count, log.censoredCount, log.formats]).toEqual([2, 1, ["nginx"]]);
    expect(log.latency.minMs).toBe(250);
    expect(skipsOf(log)).toEqual(["1 without a time at log:3"]);
  });

  test("of nginx give the time of the last server, where that is asked for", async () => {
    const log = await readText(NGINX, { field: "upstream_response_time" });
    expect(log.latency.maxMs).toBe(200);
  });

  test("are read by the log_format that wrote them", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of nginx
    const logFormat = '$remote_addr [$time_local] "$request" $status ${request_time}s';
    const text = '::1 [10/Oct/2025:13:55:36 +0000] "GET /x?[a] HTTP/1.1" 200 0.042s\nbroken\n';
    const log = await readText(text, { logFormat });
    expect(Array.from(log.latency.valuesMs)).toEqual([42]);
    expect(skipsOf(log)).toEqual(["1 not a line of this nginx log at log:2"]);
    await expect(readText("x\n", { logFormat: "plain" })).rejects.toThrow("no variable in");
    await expect(readText("x\n", { logFormat: "$status" })).rejects.toThrow(
      "holds none of request_time",
    );
  });

  test("of Envoy and Istio are read as they come", async () => {
    const envoy =
      '[2025-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq" "cc21" "loc" "tcp://10.0.2.1:80"\n';
    const istio =
      '[2025-11-25T21:26:18.409Z] "GET /status HTTP/1.1" 200 DC via_upstream - "-" 0 135 4 3 "-" "curl" "84" "h" "127.0.0.1:80" inbound\n';
    const log = await readText(envoy + istio);
    expect([log.count, log.censoredCount, log.formats]).toEqual([2, 1, ["envoy"]]);
    expect(log.latency.maxMs).toBe(226);
    const upstream = await readText(envoy, { field: "RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)" });
    expect(upstream.latency.maxMs).toBe(100);
  });

  test("of Envoy in a format of one's own", async () => {
    const log = await readText("GET 200 17 -\n", {
      logFormat: "%REQ(:METHOD)% %RESPONSE_CODE% %DURATION% %RESPONSE_FLAGS%\n",
    });
    expect(log.latency.maxMs).toBe(17);
  });
});
