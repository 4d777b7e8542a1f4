import { InvalidArgumentError } from "commander";
import { readDurationMs } from "../../policy-file/units.ts";

export function isBareNumber(text: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(text.trim());
}

/** For the end of a message about a time: empty where the mistake is not a missing unit. */
export function unitHint(text: string): string {
  const bare = text.trim();
  return isBareNumber(bare) ? ` ${bare} of what? Write ${bare}ms or ${bare}s.` : "";
}

/** A time with its unit, in ms: above 0, and at most a day. */
export function timeFlag(text: string): number {
  const ms = readDurationMs(text.trim());
  if (ms.ok && ms.value > 0) return ms.value;
  throw new InvalidArgumentError(
    `Expected a time above 0 and at most 24h, as 500ms or 2s.${unitHint(text)}`,
  );
}

/** The same, or `0s`. */
export function timeFlagFrom0(text: string): number {
  return /^0+(?:\.0+)?(?:ms|s|m|h)$/.test(text.trim()) ? 0 : timeFlag(text);
}
