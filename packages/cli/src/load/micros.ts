/** What histograms hold. A clock that reads a hair below the planned moment is no negative wait. */
export function toMicros(ms: number): number {
  return ms > 0 ? Math.round(ms * 1_000) : 0;
}
