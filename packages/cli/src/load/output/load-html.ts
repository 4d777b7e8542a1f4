import type { LoadResult } from "./run-record.ts";

export function loadHtml(_result: LoadResult, _version: string): string {
  return "";
}
