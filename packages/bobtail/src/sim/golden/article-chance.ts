import type { Mt19937 } from "../../core/mt19937.ts";
import type { Rng } from "../../core/rng.ts";

/**
 * The chance of the balancing article in the form in which our balancers ask for it: they decide, and where they draw, they
 * are given the number that leads to what the article's program drew at that point.
 */
export class ArticleChance implements Rng {
  private readonly rng: Mt19937;
  private readonly count: number;
  private readonly blind: boolean;
  private begun: boolean;
  private tie: number | undefined;

  /** @param blind - numbers in [0, 1) are asked for by a policy that draws one of `count`, as `randrange` does. */
  constructor(rng: Mt19937, count: number, blind: boolean) {
    this.rng = rng;
    this.count = count;
    this.blind = blind;
    this.begun = false;
    this.tie = undefined;
  }

  /** From now on draws are the article's; what balancers draw when they are made is not in it. */
  begin(): void {
    this.begun = true;
  }

  /** The article draws a number for every backend and breaks ties by it, so it is drawn for those that are no tie too. */
  drawTies(counts: readonly number[]): void {
    const least = Math.min(...counts);
    let ties = 0;
    let best = 0;
    let bestDraw = 2;
    for (const count of counts) {
      const draw = this.rng.random();
      if (count !== least) continue;
      if (draw < bestDraw) {
        best = ties;
        bestDraw = draw;
      }
      ties++;
    }
    this.tie = (best + 0.5) / ties;
  }

  next(): number {
    if (this.tie !== undefined) return this.tie;
    return this.begun && this.blind ? (this.rng.below(this.count) + 0.5) / this.count : 0;
  }

  /** One draw among the ordered pairs, of which ours are numbered by their first and the steps to their second. */
  below(): number {
    if (!this.begun) return 0;
    const [first, second] = this.rng.pair(this.count);
    const steps = (second - first - 1 + this.count) % this.count;
    return first + this.count * steps;
  }

  split(): Rng {
    return this;
  }
}
