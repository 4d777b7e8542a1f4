import type { Scale } from "./chart-scale.ts";

export const WIDTH = 720;
const HEIGHT = 340;
/** Where the data goes: left, right, top, bottom. */
export const AREA = { left: 64, right: 704, top: 14, bottom: 290 } as const;

export interface Axes {
  readonly x: Scale;
  readonly y: Scale;
  readonly xTitle: string;
  readonly yTitle: string;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Drawing {
  /** Part of the ids in it; unique in the document. */
  readonly id: string;
  readonly title: string;
  /** What a reader who does not see it should know. */
  readonly description: string;
  readonly height?: number;
}

/** An SVG with a name and a description for those who listen to it. */
export function drawing(
  { id, title, description, height = HEIGHT }: Drawing,
  body: string,
): string {
  return (
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}-t ${id}-d">` +
    `<title id="${id}-t">${escapeHtml(title)}</title>` +
    `<desc id="${id}-d">${escapeHtml(description)}</desc>${body}</svg>`
  );
}

/** Grid, ticks and titles of both axes. */
export function axes({ x, y, xTitle, yTitle }: Axes): string {
  const { left, right, top, bottom } = AREA;
  let grid = "";
  let labels = "";
  for (const { value, label } of x.ticks) {
    const at = round(x.place(value));
    grid += `M${at} ${top}V${bottom}`;
    labels += `<text x="${at}" y="${bottom + 18}" text-anchor="middle">${escapeHtml(label)}</text>`;
  }
  for (const { value, label } of y.ticks) {
    const at = round(y.place(value));
    grid += `M${left} ${at}H${right}`;
    labels += `<text x="${left - 8}" y="${at + 4}" text-anchor="end">${escapeHtml(label)}</text>`;
  }
  const middle = (top + bottom) / 2;
  return (
    `<path class="g" d="${grid}"/><path class="a" d="M${left} ${top}V${bottom}H${right}"/>${labels}` +
    `<text class="t" x="${(left + right) / 2}" y="${bottom + 40}" text-anchor="middle">${escapeHtml(xTitle)}</text>` +
    `<text class="t" transform="translate(14 ${middle}) rotate(-90)" text-anchor="middle">${escapeHtml(yTitle)}</text>`
  );
}

/** A line in the colour and dash of its series. */
export function curve(points: readonly Point[], series: number, extra: string = ""): string {
  return points.length === 0
    ? ""
    : `<path class="l s${series}${extra === "" ? "" : ` ${extra}`}" d="${pathOf(points)}"/>`;
}

/** The surface between two lines over the same places. */
export function band(low: readonly Point[], high: readonly Point[], series: number): string {
  if (low.length < 2) return "";
  return `<path class="b f${series}" d="${pathOf([...low, ...[...high].reverse()])}Z"/>`;
}

function pathOf(points: readonly Point[]): string {
  return points.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join("");
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
