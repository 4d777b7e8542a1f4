import type { Dispatcher } from "undici";

type Headers = Dispatcher.DispatchOptions["headers"];
type Pair = [string, string | string[] | undefined];

/** The value of a header, in whichever form undici takes them; `undefined`: there is none. */
export function headerOf(headers: Headers, wanted: string): string | undefined {
  const found = pairsOf(headers).find(([name]) => name.toLowerCase() === wanted);
  return Array.isArray(found?.[1]) ? found[1][0] : found?.[1];
}

/** The headers with Bobtail's own in place of any of the same name. */
export function withMarks(headers: Headers, marks: Readonly<Record<string, string>>): string[] {
  const flat: string[] = [];
  for (const [name, value] of pairsOf(headers)) {
    if (value === undefined || isOwn(name, marks)) continue;
    for (const v of Array.isArray(value) ? value : [value]) flat.push(name, v);
  }
  for (const [name, value] of Object.entries(marks)) flat.push(name, value);
  return flat;
}

function isOwn(name: string, marks: Readonly<Record<string, string>>): boolean {
  const lower = name.toLowerCase();
  // An upper level's plea not to hedge is passed on even where this level has none of its own.
  return (
    Object.hasOwn(marks, lower) || lower === "bobtail-attempt" || lower === "bobtail-deadline-ms"
  );
}

function pairsOf(headers: Headers): Pair[] {
  if (headers === undefined || headers === null) return [];
  if (Array.isArray(headers)) {
    const pairs: Pair[] = [];
    for (let i = 0; i + 1 < headers.length; i += 2)
      pairs.push([String(headers[i]), headers[i + 1] as string]);
    return pairs;
  }
  return Symbol.iterator in headers
    ? [...(headers as Iterable<Pair>)]
    : (Object.entries(headers) as Pair[]);
}
