/** Longest word worth comparing: keys are short, and the table below grows with the square. */
const MAX_LENGTH = 40;
const MAX_CANDIDATES = 200;

/**
 * The known word that was probably meant: the one with the fewest insertions, deletions, replacements
 * and swaps of neighbours, if that is at most a third of its length. Case does not count.
 * Source: Damerau, CACM 7(3), 1964 (restricted form: no letter is edited twice).
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  let best: string | undefined;
  let bestEdits = Number.POSITIVE_INFINITY;
  for (const candidate of known.slice(0, MAX_CANDIDATES)) {
    if (candidate.length > MAX_LENGTH) continue;
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase());
    const allowed = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3));
    if (edits < bestEdits && edits <= allowed) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) edits = Math.min(edits, at(beforeLast, j - 2) + 1);
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
