import picocolors from "picocolors";

/** The few styles that the command uses. Without colour every one returns its text as it is. */
export interface Palette {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

/**
 * Colour when the stream is a terminal. `NO_COLOR` (any value but an empty one) turns it off and
 * `FORCE_COLOR` turns it on; `NO_COLOR` wins.
 */
export function paletteFor(
  stream: { readonly isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>> = process.env,
): Palette {
  const refused = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  const forced = (env.FORCE_COLOR ?? "") !== "" && env.FORCE_COLOR !== "0";
  return createPalette(!refused && (forced || stream.isTTY === true));
}

export function createPalette(colour: boolean): Palette {
  const { bold, dim, red, green, yellow } = picocolors.createColors(colour);
  return { bold, dim, red, green, yellow };
}
