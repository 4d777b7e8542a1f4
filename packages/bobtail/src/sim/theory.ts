/** Closed forms that simulated figures stand beside. Loads are the busy share of the workers, in (0, 1); times in units of the mean service time. */

/** The probability that a request waits before that many workers. Source: Erlang, 1917 (the C formula). */
export function erlangC(workers: number, load: number): number {
  const offered = workers * load;
  let inverse = 1;
  for (let k = 1; k <= workers; k++) inverse = 1 + (k / offered) * inverse;
  const blocked = 1 / inverse;
  return blocked / (1 - load * (1 - blocked));
}

/** Mean time in an M/M/c queue. */
export function mmcMean(workers: number, load: number): number {
  return 1 + erlangC(workers, load) / (workers * (1 - load));
}

/** A quantile of the time in an M/M/c queue, by bisection on its tail. */
export function mmcQuantile(workers: number, load: number, quantile: number): number {
  const waits = erlangC(workers, load);
  const rate = workers * (1 - load);
  const tail = (t: number) => {
    const served = Math.exp(-t);
    if (Math.abs(rate - 1) < 1e-9) return served * (1 + waits * t);
    return served + (waits * (served - Math.exp(-rate * t))) / (rate - 1);
  };
  return bisect((t) => tail(t) - (1 - quantile), 0, 1000);
}

/** Mean wait in an M/G/1 queue. @param squareRatio - mean of the square of the service time over the square of its mean. Source: Pollaczek & Khinchine, 1930. */
export function mg1Wait(load: number, squareRatio: number): number {
  return (load * squareRatio) / (2 * (1 - load));
}

/** The share of servers with at least so many requests when each goes to the shortest of `choices` queues. Source: Vvedenskaya, Dobrushin & Karpelevich, 1996. */
export function supermarketTail(load: number, choices: number, count: number): number {
  const power = choices === 1 ? count : (choices ** count - 1) / (choices - 1);
  return load ** power;
}

/** Mean time when each request is sent to `copies` of `servers` and the first to finish cancels the rest, sizes drawn anew. Source: Gardner et al., "Redundancy-d", Oper. Res. 65(4), 2017. */
export function redundancyMean(servers: number, copies: number, load: number): number {
  let sum = 0;
  for (let i = copies; i <= servers; i++)
    sum +=
      1 /
      ((servers * choose(servers - 1, copies - 1)) / choose(i - 1, copies - 1) - servers * load);
  return sum;
}

/** The load from which hedges after a fixed delay feed themselves, when the delay was the p95 at load `quiet`. */
export function criticalHedgeLoad(quiet: number): number {
  const delay = Math.log(20) / (1 - quiet);
  return bisect((x) => x + Math.log(x) - (delay - 1), 1e-9, delay) / delay;
}

/** Mean time of a fork to two M/M/1 queues and a join. Source: Flatto & Hahn, 1984. */
export function forkJoin2Mean(load: number): number {
  return (12 - load) / 8 / (1 - load);
}

export function harmonic(n: number): number {
  let sum = 0;
  for (let i = n; i >= 1; i--) sum += 1 / i;
  return sum;
}

/** Share of requests that wait for at least one slow leaf. */
export function slowShare(leafShare: number, leaves: number): number {
  return -Math.expm1(leaves * Math.log1p(-leafShare));
}

function choose(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result *= (n - k + i) / i;
  return result;
}

/** Where a monotone function crosses zero. */
export function bisect(f: (x: number) => number, from: number, to: number): number {
  let low = from;
  let high = to;
  const rising = f(high) > f(low);
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2;
    if (f(middle) > 0 === rising) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}
