// Interleaved rounds of the same work by several contestants: ratios survive a noisy machine, absolute times do not.

/**
 * @param {Record<string, () => Promise<number> | number>} contestants - each runs once and returns its cost in ns an operation
 * @returns medians by name
 */
export async function compare(contestants, { rounds = 7 } = {}) {
  const costs = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      globalThis.gc?.();
      const cost = await run();
      if (round > 0) costs[name].push(cost); // the first round warms up
    }
  }
  return Object.fromEntries(Object.entries(costs).map(([name, list]) => [name, median(list)]));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** CPU time of `work(count)`, the garbage collector's included, in ns an operation: what other processes do does not count. */
export async function nsPerOp(count, work) {
  const before = process.cpuUsage();
  await work(count);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / count;
}

/** A table on stdout: the cost, and its ratio to the first row of the group. */
export function table(title, costs, { unit = "ns", base = Object.keys(costs)[0] } = {}) {
  const width = Math.max(...Object.keys(costs).map((name) => name.length));
  console.log(`\n${title}`);
  for (const [name, cost] of Object.entries(costs)) {
    const ratio = cost / costs[base];
    console.log(
      `  ${name.padEnd(width)}  ${show(cost).padStart(9)} ${unit}   x ${ratio.toFixed(2)}`,
    );
  }
}

function show(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
