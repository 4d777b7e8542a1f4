// Interleaved rounds of the same work by several contestants: ratios survive a noisy machine, absolute times do not.

/**
 * No collection is forced between the runs: one that comes while no call is under way makes V8 throw away the code it has
 * compiled for the calls' objects, and the next run would measure the compiler.
 *
 * @param {Record<string, () => Promise<number> | number>} contestants - each runs once and returns its cost in ns an operation
 * @param {object} options - `warmups`: rounds that do not count; `summary`: the median, or {@link best}
 * @returns one figure by name
 */
export async function compare(contestants, { rounds = 7, warmups = 1, summary = median } = {}) {
  const costs = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = -warmups; round < rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const cost = await run();
      if (round >= 0) costs[name].push(cost);
    }
  }
  return Object.fromEntries(Object.entries(costs).map(([name, list]) => [name, summary(list)]));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** For work of a few milliseconds: what else runs on the machine only ever adds to it. */
export function best(values) {
  return Math.min(...values);
}

/** CPU time of `work(count)`, the garbage collector's included, in ns an operation: what other processes do does not count. */
export async function nsPerOp(count, work) {
  const before = process.cpuUsage();
  await work(count);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / count;
}

/**
 * A table on stdout: the cost, its ratio to the first row of the group or to those named, and the budget where there is one.
 *
 * @param {object} options - `peers`: label of a column to the row it compares with; `budgets`: row to its budget in the same unit
 */
export function table(title, costs, { unit = "ns", base, peers, budgets = {} } = {}) {
  const width = Math.max(...Object.keys(costs).map((name) => name.length));
  const columns = Object.entries(peers ?? { "": base ?? Object.keys(costs)[0] });
  console.log(`\n${title}`);
  for (const [name, cost] of Object.entries(costs)) {
    const ratios = columns.map(([label, row]) => {
      const ratio = `x ${(cost / costs[row]).toFixed(2)}`;
      return label === "" ? ratio : `${ratio} ${label}`.padEnd(label.length + 8);
    });
    const budget = budgets[name] === undefined ? "" : `   budget ${show(budgets[name])}`;
    const line = `  ${name.padEnd(width)}  ${show(cost).padStart(9)} ${unit}   ${ratios.join("  ")}${budget}`;
    console.log(line.trimEnd());
  }
}

function show(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
