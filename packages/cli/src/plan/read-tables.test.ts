import { describe, expect, test } from "vitest";
import { readText, readTexts, skipsOf } from "./read.testbed.ts";

describe("CSV", () => {
  test("states its unit in the name of the column", async () => {
    const log = await readText("time,latency_us,path\n1,1500,/a\n2,2500,/b\n");
    expect(Array.from(log.latency.valuesMs)).toEqual([1.5, 2.5]);
    expect(log.formats).toEqual(["csv"]);
  });

  test("of one value a line needs no header, but a unit", async () => {
    const log = await readText("3\n1\n2\n", { unit: "s" });
    expect(Array.from(log.latency.valuesMs)).toEqual([1_000, 2_000, 3_000]);
    await expect(readText("3\n1\n")).rejects.toThrow("log:1: the latencies have no unit");
  });

  test("values may carry their unit", async () => {
    const log = await readText("took\n12ms\n0.5s\n800us\n");
    expect(Array.from(log.latency.valuesMs)).toEqual([0.8, 12, 500]);
  });

  test("takes a column by name or by number, and names those there are", async () => {
    const text = "a;b\n1;10\n2;20\n";
    const options = { unit: "ms" } as const;
    expect((await readText(text, { ...options, field: "b" })).latency.minMs).toBe(10);
    expect((await readText(text, { ...options, field: "2" })).latency.maxMs).toBe(20);
    await expect(readText(text, { ...options, field: "c" })).rejects.toThrow('no column "c"');
    await expect(readText(text, options)).rejects.toThrow(
      'log:1: no column is named as the latency, of "a", "b"',
    );
    await expect(readText("rt,latency\n1,2\n", options)).rejects.toThrow(
      "several columns could be",
    );
  });

  test("reads quoted cells", async () => {
    const log = await readText('path,latency_ms\n"/a,""b""",7\n"/c",8\n');
    expect(Array.from(log.latency.valuesMs)).toEqual([7, 8]);
  });

  test("reads rows whose quoted cells hold line ends, escaped quotes and delimiters", async () => {
    const text =
      '"took,\r\nreally",note\r\n7ms,"one\r\n\r\n9ms,""two"""\r\n8ms,x\r\n-1ms,"a\r\nb"\r\noops,y\r\n';
    const log = await readText(text, { field: "took,\nreally" });
    expect(Array.from(log.latency.valuesMs)).toEqual([7, 8]);
    expect(skipsOf(log)).toEqual(["2 not a number at log:7"]);
  });

  test("loses the line of a stray quote alone, and counts it", async () => {
    const log = await readText('a,latency_ms\n"x,1\ny,2\n"z",3\n"he "is,4\n"end,5\n');
    expect(Array.from(log.latency.valuesMs)).toEqual([2, 3]);
    expect(skipsOf(log)).toEqual([
      "2 a quoted cell that does not end at log:2",
      "1 a quote inside quotes that is not doubled at log:5",
    ]);
  });

  test("refuses a header whose quotes do not pair, with place and remedy", async () => {
    await expect(readText('"latency_ms,b\n1,2\n')).rejects.toMatchObject({
      message: "log:1: a quoted cell that does not end",
      remedy: expect.stringContaining("twice"),
    });
  });

  test("skips and counts what is no latency, with the place of the first", async () => {
    const text = "x,latency_ms\n1,5\n2,NaN\n3,-4\n4,\n5,oops\n6\n7,Infinity\n8,6\n";
    const log = await readText(text);
    expect(log.count).toBe(2);
    expect(skipsOf(log)).toEqual([
      "2 not a number at log:3",
      "1 negative at log:4",
      "1 empty at log:5",
      "1 too few columns at log:7",
      "1 longer than a day at log:8",
    ]);
  });

  test("of nothing usable fails with the reasons and their places", async () => {
    await expect(readText("latency_ms\nx\ny\n")).rejects.toThrow(
      "no latency was found: 2 x not a number (first at log:2)",
    );
    await expect(readText("")).rejects.toThrow("log: nothing in it");
    await expect(readText("\n\n")).rejects.toThrow("log: nothing in it");
  });

  test("marks what was cut short", async () => {
    const log = await readText("latency_ms,cancelled\n5,false\n9,true\n7,0\n", {
      censoredField: "cancelled",
    });
    expect([log.count, log.censoredCount]).toEqual([3, 1]);
    expect(log.latency.beyondRatio).toBeCloseTo(1 / 3, 12);
  });

  test("keeps pairs of copies", async () => {
    const log = await readText("latency_ms,backup_ms\n5,6\n9,\n7,8\n", { pairField: "backup_ms" });
    expect(log.count).toBe(3);
    expect(log.pairs).toEqual([
      { primaryMs: 5, backupMs: 6 },
      { primaryMs: 7, backupMs: 8 },
    ]);
  });

  test("survives a byte order mark, Windows line ends and no last line end", async () => {
    const log = await readText("\ufefflatency_ms\r\n5\r\n6");
    expect(Array.from(log.latency.valuesMs)).toEqual([5, 6]);
  });
});

describe("JSON lines", () => {
  test("over several lines an object is refused, and how to join them is said", async () => {
    const refused = readText('{\n  "p99_ms": 5\n}\n');
    await expect(refused).rejects.toMatchObject({
      message: expect.stringMatching(/^log:1: a JSON object over several lines/),
      remedy: expect.stringContaining("jq -c"),
    });
  });

  test("take a field by name or path, with its unit", async () => {
    const text = '{"timing":{"total_ms":4}}\n{"timing":{"total_ms":"6"}}\n';
    const log = await readText(text, { field: "timing.total_ms" });
    expect(Array.from(log.latency.valuesMs)).toEqual([4, 6]);
    const named = await readText('{"durationMs":4}\n{"durationMs":5}\n');
    expect(named.latency.maxMs).toBe(5);
  });

  test("skip what is no record", async () => {
    const text =
      '{"latency_ms":1}\n{"latency_ms":\n[]\n{"other":2}\n{"latency_ms":null}\n{"latency_ms":true}\n7\n';
    const log = await readText(text);
    expect(skipsOf(log)).toEqual([
      "1 not JSON at log:2",
      "3 without the field at log:3",
      "1 not a number at log:6",
      "1 not a JSON object at log:7",
    ]);
  });

  test("without a unit are refused, with the field named", async () => {
    await expect(readText('{"latency":1}\n')).rejects.toThrow('log:1: "latency" has no unit');
  });

  test("name their fields where none is the latency", async () => {
    await expect(readText('{"a":1,"b":2}\n')).rejects.toThrow('of "a", "b"');
  });

  test("know what was cut short, and pairs", async () => {
    const log = await readText(
      '{"took_ms":1,"outcome":"superseded","b_ms":3}\n{"took_ms":2,"outcome":"win","b_ms":4}\n',
      { censoredField: "outcome", pairField: "b_ms" },
    );
    expect(log.censoredCount).toBe(1);
    expect(log.pairs).toEqual([{ primaryMs: 2, backupMs: 4 }]);
  });
});

test("several files are one log", async () => {
  const log = await readTexts({ "a.csv": "latency_ms\n1\n", "b.jsonl": '{"latency_ms":2}\n' });
  expect(log.count).toBe(2);
  expect(log.formats).toEqual(["csv", "json"]);
});

test("a file that is no text is refused at once", async () => {
  await expect(readText("\u001f\u008b\u0008\u0000\u0000\n")).rejects.toThrow(
    "log:1: this is not a text file",
  );
});
