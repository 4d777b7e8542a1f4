/** A failure costs ten times what a success pays back: the balance sinks when over 1 / 11 of the answers fail. */
const MAX_TENTHS = 300;
const FAILURE_TENTHS = 10;
const HALF_TENTHS: number = MAX_TENTHS / 2;

/**
 * Stops extra attempts while failures outweigh successes: on when half of its tokens or fewer are left.
 *
 * Starts with 30 tokens; a failure takes one, a success gives a tenth. The usual size of 10 tokens brakes
 * a service with 5 % of random failures for 0.3 % of its time; with 30 that needs fifteen failures
 * more than successes pay for, which such a service meets less than once in ten million calls.
 * Source: gRFC A6, "gRPC Retry Design", 2017 (retry throttling).
 */
export class FailureBrake {
  private tenths: number;

  constructor() {
    this.tenths = MAX_TENTHS;
  }

  get on(): boolean {
    return this.tenths <= HALF_TENTHS;
  }

  success(): void {
    if (this.tenths < MAX_TENTHS) this.tenths++;
  }

  failure(): void {
    this.tenths = Math.max(0, this.tenths - FAILURE_TENTHS);
  }
}
