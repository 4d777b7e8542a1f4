import { expect, test } from "vitest";
import { readingLine } from "./reading-line.ts";

test("reading a log says how far it is: the file, its lines, megabytes and latencies so far", () => {
  let nowMs = 0;
  let said = "";
  const line = readingLine({ write: (text: string) => (said += text) }, () => nowMs);
  const progress = { file: "app.log", lines: 12_345, bytes: 2.1e6, latencies: 12_000 };
  line.show(progress);
  expect(said).toBe("");
  nowMs = 10_000;
  line.show(progress);
  line.end();
  expect(said).toBe("app.log: 12,345 lines, 2 MB, 12,000 latencies\n");
});
