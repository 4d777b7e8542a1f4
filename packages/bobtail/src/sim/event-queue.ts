const NONE = -1;
const MIN_BUCKETS = 64;
const REVIEW_POPS = 1024;
const MAX_EVENTS = 1 << 24;

/**
 * Pending events of a simulation in order of time; equal times keep the order of insertion.
 *
 * A calendar queue: buckets of equal width that time sweeps through like the days of a year, so insert, remove and
 * pop cost the same with forty events pending as with a hundred thousand. Events are rows of typed arrays:
 * a whole-number code and a subject, no closures.
 * Source: Brown, "Calendar queues", CACM 31(10), 1988.
 */
export class EventQueue {
  size: number;
  /** The event that `pop` took last. */
  timeMs: number;
  code: number;
  subject: unknown;

  private times: Float64Array;
  private codes: Uint8Array;
  private subjects: unknown[];
  private next: Int32Array;
  private previous: Int32Array;
  private firstFree: number;

  private heads: Int32Array;
  private tails: Int32Array;
  private mask: number;
  private widthMs: number;
  private perWidth: number;
  /** The day (bucket number since time 0, not wrapped) that pop looks at. */
  private day: number;
  private scanned: number;
  private untilReview: number;

  constructor() {
    this.size = 0;
    this.timeMs = 0;
    this.code = 0;
    this.subject = undefined;
    this.times = new Float64Array(64);
    this.codes = new Uint8Array(64);
    this.subjects = new Array<unknown>(64).fill(undefined);
    this.next = new Int32Array(64);
    this.previous = new Int32Array(64);
    this.firstFree = NONE;
    this.heads = new Int32Array(MIN_BUCKETS).fill(NONE);
    this.tails = new Int32Array(MIN_BUCKETS).fill(NONE);
    this.mask = MIN_BUCKETS - 1;
    this.widthMs = 1;
    this.perWidth = 1;
    this.day = 0;
    this.scanned = 0;
    this.untilReview = REVIEW_POPS;
    this.free(0, 64);
  }

  /**
   * @param timeMs - not before the event popped last; finite.
   * @param code - a whole number in [0, 255].
   * @returns a handle for `remove`, valid until the event is popped or removed.
   */
  push(timeMs: number, code: number, subject: unknown): number {
    if (this.firstFree === NONE) this.grow();
    const event = this.firstFree;
    this.firstFree = this.next[event] as number;
    this.times[event] = timeMs;
    this.codes[event] = code;
    this.subjects[event] = subject;
    this.link(event, timeMs);
    this.size++;
    if (this.size > 2 * this.mask + 2) this.rebuild(2 * (this.mask + 1));
    return event;
  }

  remove(event: number): void {
    this.unlink(event);
    this.release(event);
  }

  /**
   * Takes the earliest event into `timeMs`, `code` and `subject`; false when there is none.
   *
   * @param limitMs - false, and nothing taken, when the earliest is later than this; not before the event popped last.
   * A stream of its own, such as arrivals, need not pass through the queue.
   */
  pop(limitMs: number = Number.POSITIVE_INFINITY): boolean {
    if (this.size === 0) return false;
    const { heads, mask, times, perWidth } = this;
    const from = this.day;
    const limitDay = limitMs * perWidth;
    for (let day = from; day <= from + mask; day++) {
      const event = heads[day & mask] as number;
      // Sorted lists: a head that is not due today belongs to a later year, and so does its list.
      if (event !== NONE && (times[event] as number) * perWidth < day + 1) {
        this.scanned += day - from;
        this.day = day;
        return (times[event] as number) <= limitMs && this.take(event, day & mask);
      }
      if (day + 1 > limitDay) {
        this.scanned += day - from;
        this.day = day;
        return false;
      }
    }
    this.scanned += mask;
    const day = this.day;
    const event = this.earliest();
    if ((times[event] as number) <= limitMs) return this.take(event, this.day & mask);
    // The calendar stays at a day that is not after anything that may still come.
    this.day = day;
    return false;
  }

  /** The head of that bucket. */
  private take(event: number, bucket: number): true {
    const after = this.next[event] as number;
    this.heads[bucket] = after;
    if (after === NONE) this.tails[bucket] = NONE;
    else this.previous[after] = NONE;
    this.timeMs = this.times[event] as number;
    this.code = this.codes[event] as number;
    this.subject = this.subjects[event];
    this.release(event);
    if (--this.untilReview === 0) this.review();
    return true;
  }

  /** Fewer events than buckets want, many empty days a pop, or long lists: the calendar no longer fits. */
  private review(): void {
    const buckets = this.mask + 1;
    if (this.size < buckets >> 2 && buckets > MIN_BUCKETS) this.rebuild(buckets >> 1);
    else if (this.scanned > 4 * REVIEW_POPS) this.rebuild(buckets);
    this.scanned = 0;
    this.untilReview = REVIEW_POPS;
  }

  /** A whole year is empty: look at every head, once, and jump there. */
  private earliest(): number {
    let best = NONE;
    for (let bucket = 0; bucket <= this.mask; bucket++) {
      const event = this.heads[bucket] as number;
      if (
        event !== NONE &&
        (best === NONE || (this.times[event] as number) < (this.times[best] as number))
      )
        best = event;
    }
    this.day = Math.floor((this.times[best] as number) * this.perWidth);
    return best;
  }

  /** Into its bucket's list, which is sorted; from the tail, since most events are later than those there. */
  private link(event: number, timeMs: number): void {
    const { next, previous, times } = this;
    const days = timeMs * this.perWidth;
    if (days < this.day) this.day = Math.floor(days);
    const bucket = days & this.mask;
    let after = this.tails[bucket] as number;
    let before = NONE;
    while (after !== NONE && (times[after] as number) > timeMs) {
      before = after;
      after = previous[after] as number;
      this.scanned++;
    }
    previous[event] = after;
    next[event] = before;
    if (after === NONE) this.heads[bucket] = event;
    else next[after] = event;
    if (before === NONE) this.tails[bucket] = event;
    else previous[before] = event;
  }

  private unlink(event: number): void {
    const before = this.previous[event] as number;
    const after = this.next[event] as number;
    const bucket = ((this.times[event] as number) * this.perWidth) & this.mask;
    if (before === NONE) this.heads[bucket] = after;
    else this.next[before] = after;
    if (after === NONE) this.tails[bucket] = before;
    else this.previous[after] = before;
  }

  private release(event: number): void {
    this.subjects[event] = undefined;
    this.next[event] = this.firstFree;
    this.firstFree = event;
    this.size--;
  }

  private free(from: number, to: number): void {
    for (let event = to - 1; event >= from; event--) {
      this.next[event] = this.firstFree;
      this.firstFree = event;
    }
  }

  private grow(): void {
    const old = this.times.length;
    if (old >= MAX_EVENTS) throw new RangeError(`more than ${MAX_EVENTS} pending events`);
    this.times = copy(this.times, new Float64Array(2 * old));
    this.codes = copy(this.codes, new Uint8Array(2 * old));
    this.next = copy(this.next, new Int32Array(2 * old));
    this.previous = copy(this.previous, new Int32Array(2 * old));
    for (let i = 0; i < old; i++) this.subjects.push(undefined);
    this.free(old, 2 * old);
  }

  /** New buckets, as wide as three mean gaps between the events that are next. */
  private rebuild(buckets: number): void {
    const events = this.sorted();
    const near = events.slice(0, Math.max(2, Math.min(64, events.length)));
    const first = this.times[near[0] as number] as number;
    const last = this.times[near[near.length - 1] as number] as number;
    const gapMs = events.length < 2 ? 0 : (last - first) / (near.length - 1);
    if (gapMs > 0) this.widthMs = 3 * gapMs;
    this.perWidth = 1 / this.widthMs;
    this.mask = buckets - 1;
    this.heads = new Int32Array(buckets).fill(NONE);
    this.tails = new Int32Array(buckets).fill(NONE);
    this.day = Math.floor((events.length > 0 ? first : this.timeMs) * this.perWidth);
    for (const event of events) this.link(event, this.times[event] as number);
    this.scanned = 0;
  }

  /** All pending events in order; a stable sort keeps equal times in order of insertion, as each list has them. */
  private sorted(): number[] {
    const events: number[] = [];
    for (const head of this.heads) {
      for (let event = head; event !== NONE; event = this.next[event] as number) events.push(event);
    }
    return events.sort((a, b) => (this.times[a] as number) - (this.times[b] as number));
  }
}

function copy<A extends { set(from: A): void }>(from: A, to: A): A {
  to.set(from);
  return to;
}
