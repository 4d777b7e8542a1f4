/** Maps values to places on a drawing. */
export interface Scale {
  place(value: number): number;
  readonly ticks: readonly Tick[];
}

export interface Tick {
  readonly value: number;
  readonly label: string;
}

interface Span {
  readonly min: number;
  readonly max: number;
  /** Place of `min` and of `max`. */
  readonly from: number;
  readonly to: number;
}

const MAX_TICKS = 9;

/** Powers of ten between round bounds, with 2 and 5 between them where there is room. */
export function logScale({ min, max, from, to }: Span): Scale {
  const low = Math.floor(Math.log10(min) * 3 + 1e-9) / 3;
  const high = Math.max(low + 1 / 3, Math.ceil(Math.log10(max) * 3 - 1e-9) / 3);
  const place = (value: number): number =>
    from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  const steps = high - low > 3 ? [1] : [1, 2, 5];
  const ticks: Tick[] = [];
  for (let decade = Math.floor(low); decade <= Math.ceil(high); decade++) {
    for (const step of steps) {
      const value = step * 10 ** decade;
      const at = Math.log10(value);
      if (at >= low - 1e-9 && at <= high + 1e-9) ticks.push({ value, label: showNumber(value) });
    }
  }
  return { place, ticks: thinned(ticks) };
}

/** From round numbers to round numbers. */
export function linearScale({ min, max, from, to }: Span): Scale {
  const span = max > min ? max - min : Math.abs(max) || 1;
  const rough = span / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((m) => m * unit >= rough) ?? 10) * unit;
  const low = Math.floor(min / step + 1e-9) * step;
  const high = Math.ceil((max > min ? max : min + span) / step - 1e-9) * step;
  const count = Math.round((high - low) / step);
  const ticks = Array.from({ length: count + 1 }, (_, i) => {
    const value = Number((low + i * step).toPrecision(12));
    return { value, label: showNumber(value) };
  });
  return { place: (value) => from + ((value - low) / (high - low)) * (to - from), ticks };
}

/** Names side by side, each in the middle of its share. */
export function nameScale(
  names: readonly string[],
  { from, to }: Pick<Span, "from" | "to">,
): Scale {
  const share = (to - from) / names.length;
  return {
    place: (value) => from + (value + 0.5) * share,
    ticks: thinned(names.map((label, value) => ({ value, label }))),
  };
}

function showNumber(value: number): string {
  return Number(value.toPrecision(6)).toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

/** Three digits, in words of people: 1,660 and not 1.66e+3. */
export function showShort(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

function thinned(ticks: readonly Tick[]): readonly Tick[] {
  const every = Math.ceil(ticks.length / MAX_TICKS);
  return ticks.filter((_, i) => i % every === 0);
}
