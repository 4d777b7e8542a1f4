import { scenarios } from "bobtail/sim";
import { wrap } from "../plan/figures.ts";
import type { Palette } from "../terminal/palette.ts";

const WIDTH = 80;

/** Every built-in scenario with what it shows. */
export function listText(palette: Palette): string {
  const blocks = scenarios.map(({ name, title, source }) => {
    const indent = (text: string) => wrap(text, WIDTH - 4).replace(/^/gm, "    ");
    return `${palette.bold(name)}\n${indent(title)}\n${palette.dim(indent(source))}\n`;
  });
  return `${blocks.join("")}\nRun one with \`bobtail sim NAME\`, or a file with \`bobtail sim FILE\`.\n`;
}

export function listJson(): Record<string, unknown> {
  return {
    schema: "bobtail.sim-list/1",
    scenarios: scenarios.map(({ name, title, source }) => ({ name, title, source })),
  };
}
