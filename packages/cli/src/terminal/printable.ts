const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Text from outside may hold what commands a terminal or turns the direction of writing; and it may hold passwords. On one line. */
export function printable(text: string): string {
  return hideCredentials(text).replace(
    INVISIBLE,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** On one line, and without what commands a terminal. */
export function isPrintable(text: string): boolean {
  return text.search(INVISIBLE) < 0;
}

/** As {@link printable}, of the same length, so that columns stay true. */
export function printableColumns(text: string): string {
  return hideCredentials(text).replace(INVISIBLE, " ");
}

/** Text in which no password of a URL and no key can be read; of the same length. */
function hideCredentials(text: string): string {
  return text
    .replace(/\/\/\S{0,512}@/g, (found) => `//${"*".repeat(found.length - 3)}@`)
    .replace(/-----BEGIN .*/, (found) => "*".repeat(found.length));
}
