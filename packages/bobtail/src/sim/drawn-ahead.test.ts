import { expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { DrawnAhead } from "./drawn-ahead.ts";

test("numbers drawn ahead are the very numbers of their stream, in its order, over many blocks", () => {
  const plain = seededRng(21);
  const drawn = seededRng(21);
  const ahead = new DrawnAhead(() => drawn.next());
  const count = 1000;
  const expected = Array.from({ length: count }, () => plain.next());
  expect(Array.from({ length: count }, () => ahead.next())).toEqual(expected);
});

test("nothing is drawn before it is wanted, and never more than a block ahead", () => {
  let draws = 0;
  const ahead = new DrawnAhead(() => draws++);
  expect(draws).toBe(0);
  for (let used = 1; used <= 300; used++) {
    expect(ahead.next()).toBe(used - 1);
    expect(draws).toBe(Math.ceil(used / 64) * 64);
  }
});
