/** Three digits, with the unit that reads best. */
export function showMs(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return "-";
  if (ms >= 9_995) return `${digits(ms / 1_000)} s`;
  return ms !== 0 && ms < 0.1 ? `${digits(ms * 1_000)} us` : `${digits(ms)} ms`;
}

/** A few that round to none must not look like none. */
export function showPercent(ratio: number): string {
  if (ratio > 0 && ratio < 0.0005) return "<0.1 %";
  return `${(ratio * 100).toFixed(1)} %`;
}

/** p50, p99.9: without the noise of 0.999 x 100. */
export function showQuantile(quantile: number): string {
  return `p${Number((quantile * 100).toPrecision(10))}`;
}

/** A quantile with two digits of its tail: p99.990, not p99.98995017. */
export function showTail(quantile: number): string {
  const tail = 1 - quantile;
  if (tail <= 0 || tail >= 0.1) return `p${(quantile * 100).toFixed(1)}`;
  return `p${(quantile * 100).toFixed(Math.min(12, Math.ceil(-Math.log10(tail)) - 1))}`;
}

/** An interval, in the unit that `showMs` chooses for each end; `?` for an end that is not known. */
export function showInterval(lowMs: number, highMs: number | undefined): string {
  const [low = "", lowUnit] = showMs(lowMs).split(" ");
  const [high = "?", highUnit = lowUnit] = highMs === undefined ? [] : showMs(highMs).split(" ");
  return lowUnit === highUnit ? `[${low}, ${high}]` : `[${low} ${lowUnit}, ${high} ${highUnit}]`;
}

export function showCount(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function digits(value: number): string {
  if (value === 0) return "0";
  if (value >= 99.95) return showCount(value);
  return value.toFixed(value >= 9.995 ? 1 : 2);
}

/** Breaks a paragraph between words. */
export function wrap(text: string, width = 100): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join("\n");
}
