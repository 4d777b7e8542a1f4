import fc from "fast-check";
import { expect, test } from "vitest";
import { EventStream } from "./event-stream.ts";

function events(text: string, cuts: readonly number[] = []): number {
  const stream = new EventStream();
  const bytes = Buffer.from(text);
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
  places.sort((a, b) => a - b);
  let count = 0;
  for (let i = 1; i < places.length; i++)
    count += stream.read(bytes.subarray(places[i - 1], places[i]));
  return count;
}

test.each([
  ["one", "data: a\n\n", 1],
  ["two lines of one", "data: a\ndata: b\n\n", 1],
  ["two", "data: a\n\ndata: b\n\n", 2],
  ["two by carriage returns", "data: a\r\rdata: b\r\r", 2],
  ["two by both", "data: a\r\n\r\ndata: b\r\n\r\n", 2],
  ["one with an id before it", "id: 1\nevent: x\ndata: a\n\n", 1],
  ["one without a value", "data\n\n", 1],
  ["none in comments that keep the connection alive", ": ping\n\n: ping\n\n", 0],
  ["none without data", "id: 1\n\nretry: 5\n\n", 0],
  ["none in a field of a longer name", "database: a\n\n", 0],
  ["none until the empty line", "data: a\n", 0],
])("an event stream: %s", (_, text, count) => {
  fc.assert(
    fc.property(fc.array(fc.nat(60), { maxLength: 10 }), (cuts) => {
      expect(events(text, cuts)).toBe(count);
    }),
    { numRuns: 50 },
  );
});
