import { expect, test } from "vitest";
import { progressLine } from "./progress-line.ts";

function lineOf(isTTY: boolean, columns: number = 80) {
  let nowMs = 0;
  let said = "";
  const target = { isTTY, columns, write: (text: string) => (said += text) };
  const line = progressLine(target, () => nowMs);
  return {
    line,
    said: () => said,
    after: (ms: number) => {
      nowMs += ms;
      line.show({ doneRuns: 3, totalRuns: 12, doneRatio: 0.25 });
    },
  };
}

test("elsewhere than on a terminal it says one line in ten seconds, and nothing about a short run", () => {
  const { after, said, line } = lineOf(false);
  after(9_000);
  line.end();
  expect(said()).toBe("");
  after(1_000);
  after(9_999);
  expect(said()).toBe("sim: 3 of 12 runs, 25 %, about 30 s left\n");
});

test("on a terminal it rewrites one line, never wider than it, and takes it away at the end", () => {
  const { after, said, line } = lineOf(true, 20);
  after(1_000);
  expect(said()).toBe("\r\u001b[2Ksim: 3 of 12 runs, ");
  line.end();
  line.end();
  expect(said().endsWith("\r\u001b[2K")).toBe(true);
  expect(said().match(/\[2K/g)).toHaveLength(2);
});
