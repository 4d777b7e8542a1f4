const TRIES = 50;
/** The reading of the system's monotonic clock at this thread's origin of `performance.now`. */
const ORIGIN_MS: number = originMs();

/**
 * Milliseconds of the system's monotonic clock, the same on every thread of the process: `performance.now` counts from
 * the start of its own thread.
 */
export function monotonicMs(): number {
  return ORIGIN_MS + performance.now();
}

/** The two clocks are read one after the other; the pair that was nearest together is off by well under a microsecond. */
function originMs(): number {
  let nearest = Number.POSITIVE_INFINITY;
  let origin = 0;
  for (let i = 0; i < TRIES; i++) {
    const before = performance.now();
    const [seconds, nanos] = process.hrtime();
    const after = performance.now();
    if (after - before >= nearest) continue;
    nearest = after - before;
    origin = seconds * 1_000 + nanos / 1e6 - (before + after) / 2;
  }
  return origin;
}
