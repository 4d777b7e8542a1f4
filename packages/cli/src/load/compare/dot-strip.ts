const MARKS = [" ", ".", ":"] as const;
const MANY = "#";
const UNBOUNDED = "x";

/**
 * Each run as a dot on one scale for both sides, from the least to the greatest finite value: `.` one, `:` two, `#` more. Unbounded
 * runs are crosses beyond its end. Empty where all values are the same.
 */
export function dotStrips(sides: readonly (readonly number[])[], widthColumns: number): string[] {
  const finite = sides.flat().filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const isSame = !(high > low) && finite.length === sides.flat().length;
  if (isSame) return [];
  return sides.map((values) => {
    const cells = Array.from({ length: widthColumns }, () => 0);
    const beyond = values.filter((value) => !Number.isFinite(value)).length;
    for (const value of values.filter(Number.isFinite)) {
      const at = high > low ? Math.round(((value - low) / (high - low)) * (widthColumns - 1)) : 0;
      cells[at] = (cells[at] ?? 0) + 1;
    }
    const dots = cells.map((count) => MARKS[count] ?? MANY).join("");
    return `|${dots}|${beyond === 0 ? "" : ` ${beyond} ${UNBOUNDED}`}`;
  });
}
