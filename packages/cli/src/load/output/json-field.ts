import { CommandFailure } from "../../terminal/failure.ts";
import { isPrintable } from "../../terminal/printable.ts";

const REMEDY =
  "It may have been cut or edited: copy it again, or measure again with `bobtail load --out FILE.json`.";

const CONTROL = "there are control characters in it";

/** A value in a JSON file, with its place: every reading either succeeds or fails with file, place and reason. */
export class JsonField {
  private readonly file: string;
  /** From the top: `measured.ledger.sent`; empty at the top. */
  private readonly path: string;
  private readonly value: unknown;

  constructor(file: string, value: unknown, path: string = "") {
    this.file = file;
    this.value = value;
    this.path = path;
  }

  fail(reason: string): CommandFailure {
    const place = this.path === "" ? this.file : `${this.file}: ${this.path}`;
    return new CommandFailure(`${place}: ${reason}`, REMEDY);
  }

  at(key: string): JsonField {
    const path = this.path === "" ? key : `${this.path}.${key}`;
    const record = this.record();
    return new JsonField(this.file, Object.hasOwn(record, key) ? record[key] : undefined, path);
  }

  get isNull(): boolean {
    return this.value === null;
  }

  items(): readonly JsonField[] {
    const { value, file, path } = this;
    if (!Array.isArray(value)) throw this.expected("a list");
    return value.map((item, i) => new JsonField(file, item, `${path}[${i}]`));
  }

  entries(): readonly (readonly [key: string, value: JsonField])[] {
    return Object.keys(this.record()).map((key) => {
      if (!isPrintable(key)) throw this.fail(CONTROL);
      return [key, this.at(key)];
    });
  }

  /** What is read is shown: it may not command a terminal. */
  text(): string {
    if (typeof this.value !== "string") throw this.expected("a text");
    if (!isPrintable(this.value)) throw this.fail(CONTROL);
    return this.value;
  }

  /** ISO 8601. */
  moment(): string {
    const text = this.text();
    if (Number.isNaN(Date.parse(text))) throw this.expected("a date and time");
    return text;
  }

  flag(): boolean {
    if (typeof this.value !== "boolean") throw this.expected("true or false");
    return this.value;
  }

  oneOf<T extends string>(...choices: readonly T[]): T {
    const found = choices.find((choice) => choice === this.value);
    if (found === undefined) throw this.expected(choices.join(" or "));
    return found;
  }

  /** Finite and at least `min`. */
  number(min: number = 0): number {
    const { value } = this;
    if (typeof value !== "number" || !(value >= min) || !Number.isFinite(value))
      throw this.expected(`a number of at least ${min}`);
    return value;
  }

  count(): number {
    const value = this.number();
    if (!Number.isSafeInteger(value)) throw this.expected("a whole number");
    return value;
  }

  private record(): Readonly<Record<string, unknown>> {
    const { value } = this;
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw this.expected("an object");
    return value as Readonly<Record<string, unknown>>;
  }

  private expected(what: string): CommandFailure {
    const { value } = this;
    return this.fail(`expected ${what}, received ${show(value)}`);
  }
}

/** Not what is in it: that may be deeper than a stack. */
function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "object" || value === null) return JSON.stringify(value).slice(0, 60);
  return Array.isArray(value) ? "a list" : "an object";
}

/** Of a file's text. A file that is no JSON fails with the place where it stops being one. */
export function parseJsonFile(file: string, text: string): JsonField {
  try {
    return new JsonField(file, JSON.parse(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`${file}: this is not JSON, or it is cut short: ${why}`, REMEDY);
  }
}
