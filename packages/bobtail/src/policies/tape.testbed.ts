/** A finite list of choices; the ones after its end are all 0, the tame ones, so that it shrinks well. */
export class Tape {
  private readonly bytes: readonly number[];
  private position: number;

  constructor(bytes: readonly number[]) {
    this.bytes = bytes;
    this.position = 0;
  }

  get ended(): boolean {
    return this.position >= this.bytes.length;
  }

  below(bound: number): number {
    return (this.bytes[this.position++] ?? 0) % bound;
  }

  of<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }
}
