import type { Attempt } from "./attempt.ts";
import type { Call } from "./call.ts";
import { CallWorld, type MachineFactory } from "./call-world.testbed.ts";
import type { Endpoint } from "./endpoint.ts";
import { type FakePolicyOptions, fakePolicy, launchesOf } from "./fake-policy.testbed.ts";
import type { BalanceOptions } from "./options.ts";
import { serviceWorld } from "./service-world.testbed.ts";
import { Tape } from "./tape.testbed.ts";

/** Reactions inside reactions: deeper ones are left out, as a stack has an end. */
const MAX_DEPTH = 5;
const MAX_CALLS = 40;

/** What a schedule broke, and what it came by (for a test that the schedules reach the rare places). */
export interface ScheduleReport {
  readonly breaches: readonly string[];
  readonly reached: readonly string[];
}

/** Runs one schedule of events against a machine, in virtual time, to the end of every call. */
export function runSchedule(
  bytes: readonly number[],
  createMachine: MachineFactory,
): ScheduleReport {
  const tape = new Tape(bytes);
  const crowded = tape.below(3) === 2;
  const policy = fakePolicy(crowded ? crowdedOptions(tape) : optionsFrom(tape));
  const world = new CallWorld(policy, (port, observer) => createMachine(policy, port, observer));
  return report(new Schedule(tape, world, crowded));
}

/** The same against a whole service, with the decisions that users get. */
export function runServiceSchedule(bytes: readonly number[]): ScheduleReport {
  const tape = new Tape(bytes);
  const crowded = tape.below(3) === 2;
  const balance: BalanceOptions = {
    policy: tape.of(["two-choices", "least", "random", "round-robin"]),
    load: tape.of(["peak-ewma", "work", "outstanding"]),
  };
  const options = crowded ? crowdedOptions(tape) : optionsFrom(tape);
  const world = serviceWorld(options, balance, tape.below(256));
  return report(new Schedule(tape, world, crowded));
}

function report(schedule: Schedule): ScheduleReport {
  const { breaches } = schedule.world;
  try {
    schedule.run();
  } catch (error) {
    breaches.add(`threw: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { breaches: [...breaches], reached: [...schedule.reached] };
}

function optionsFrom(tape: Tape): FakePolicyOptions {
  return {
    endpoints: tape.of(["abc", "", "a", "A", "ab", "aB", "ABc", "BcD"]),
    perEndpoint: tape.of([2, 1, 3, 9]),
    maxOutstanding: tape.of([6, 1, 3, 12]),
    maxPending: tape.of([2, 0, 1, 3]),
    maxHedges: tape.of([1, 0, 2, 3, 3]),
    delayMs: tape.of([5, 0, 12, Number.POSITIVE_INFINITY]),
    medianMs: tape.of([0, 8]),
    maxRetries: tape.of([1, 0, 2]),
    attemptTimeoutMs: tape.of([Number.POSITIVE_INFINITY, 12]),
    burstCount: tape.of([4, 0, 1, 9, 20]),
    depositHundredths: tape.of([50, 1, 150]),
  };
}

/** Room for several copies of one call at a time, which chance alone seldom brings about. */
function crowdedOptions(tape: Tape): FakePolicyOptions {
  return {
    endpoints: tape.of(["ABc", "A", "abc"]),
    maxHedges: 3,
    delayMs: tape.of([3, 1]),
    maxRetries: tape.of([1, 2]),
    attemptTimeoutMs: tape.of([Number.POSITIVE_INFINITY, 12]),
    maxOutstanding: 12,
    burstCount: 20,
    depositHundredths: 50,
  };
}

class Schedule {
  readonly reached: Set<string>;
  private readonly tape: Tape;
  readonly world: CallWorld;
  private readonly endpoints: readonly Endpoint[];
  private readonly crowded: boolean;
  private depth: number;

  constructor(tape: Tape, world: CallWorld, crowded: boolean) {
    this.reached = new Set();
    this.tape = tape;
    this.world = world;
    this.endpoints = world.policy.balancer.endpoints;
    this.crowded = crowded;
    this.depth = 0;
    world.react = (where, subject) => this.react(where, subject);
  }

  run(): void {
    const { world } = this;
    while (!this.tape.ended) {
      this.step();
      world.checkBetween();
    }
    this.drain();
    this.note();
    world.checkEnd();
  }

  /** Answers what runs; what still waits for an endpoint or a far deadline is given up. */
  private drain(): void {
    const { world } = this;
    for (let i = 0; i < 20; i++) {
      for (const a of world.attempts) if (a.running) world.machine.replied(a, world.nowMs);
      world.nowMs += 5;
      world.fireDue();
      world.checkBetween();
    }
    for (const c of world.calls) world.machine.aborted(c, world.nowMs);
  }

  private step(): void {
    const { tape, world } = this;
    switch (this.crowded && tape.below(2) === 1 ? 0 : tape.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        world.nowMs += tape.below(9);
        world.fireDue();
        break;
      case 4:
        // The timers are late: events happen at a time at which wakes are overdue.
        world.nowMs += tape.below(9);
        this.report(this.anyAttempt());
        break;
      case 5:
      case 6:
        this.startCall();
        break;
      case 7:
        this.other(this.anyCall());
        break;
      default:
        this.report(this.anyAttempt());
    }
  }

  private react(where: "send" | "cancel" | "settle", subject: Attempt | Call): void {
    if (this.depth >= MAX_DEPTH || this.tape.ended) return;
    this.depth++;
    const isAttempt = "call" in subject;
    switch (this.tape.below(8)) {
      case 0:
      case 1:
      case 2:
      case 3:
        break;
      case 4:
        this.reached.add(`report inside ${where}`);
        this.report(isAttempt ? subject : this.anyAttempt());
        break;
      case 5:
        this.reached.add(`report of another inside ${where}`);
        this.report(isAttempt ? this.sibling(subject) : this.anyAttempt());
        break;
      case 6:
        this.reached.add(`call started inside ${where}`);
        this.startCall();
        break;
      default:
        this.reached.add(`other event inside ${where}`);
        this.other(isAttempt ? subject.call : subject);
    }
    this.depth--;
  }

  private startCall(): void {
    const { tape, world } = this;
    if (world.calls.length >= MAX_CALLS) return;
    world.start((c) => {
      c.cost = tape.of([1, 0.1, 7]);
      c.idempotent = this.crowded || tape.below(4) > 0;
      c.replayable = this.crowded || tape.below(6) !== 5;
      c.upperLevel = !this.crowded && tape.below(6) === 5;
      c.deadlineMs = world.nowMs + tape.of([30, 10, 60, Number.POSITIVE_INFINITY, 0]);
    });
  }

  /** Often a late or an unwanted one: the attempt may have ended, its call may be over. */
  private report(a: Attempt | undefined): void {
    const { tape, world } = this;
    if (a === undefined) {
      this.startCall();
      return;
    }
    const { machine, nowMs } = world;
    switch (tape.below(9)) {
      case 0:
      case 8:
        machine.replied(a, nowMs);
        break;
      case 1:
      case 2:
        machine.committed(a, nowMs);
        break;
      case 3:
      case 4:
        world.fail(a, 0, tape.below(3) === 0);
        break;
      case 5:
        world.fail(a, tape.of([4, 15, 100, -1, Number.NaN]), tape.below(3) === 0);
        break;
      case 6:
        machine.fatal(a, nowMs, "fatal");
        break;
      default:
        machine.ignored(a, nowMs, "full");
    }
  }

  private other(c: Call | undefined): void {
    const { tape, world } = this;
    if (c === undefined) {
      this.startCall();
      return;
    }
    switch (tape.below(4)) {
      case 0:
        world.machine.woke(c, world.nowMs);
        break;
      case 1:
        world.machine.aborted(c, world.nowMs);
        break;
      case 2: {
        const anyOther = this.anyCall();
        if (anyOther !== undefined) world.machine.aborted(anyOther, world.nowMs);
        break;
      }
      default:
        this.changeEndpoints();
    }
  }

  private changeEndpoints(): void {
    const { tape, world } = this;
    const some = this.endpoints.filter(() => tape.below(3) > 0);
    world.policy.setEndpoints(some, world.nowMs);
    world.machine.admit(world.nowMs);
  }

  /** A recent one, mostly. */
  private anyAttempt(): Attempt | undefined {
    const { attempts } = this.world;
    return attempts[attempts.length - 1 - this.tape.below(6)] ?? attempts[0];
  }

  /** Another attempt of the same call, mostly: the winner or another loser. */
  private sibling(a: Attempt): Attempt | undefined {
    const others = launchesOf(a.call).filter((b) => b !== a);
    return others[this.tape.below(others.length + 1)] ?? this.anyAttempt();
  }

  private anyCall(): Call | undefined {
    const { calls } = this.world;
    return calls[calls.length - 1 - this.tape.below(4)] ?? calls[0];
  }

  private note(): void {
    for (const c of this.world.calls) {
      this.reached.add(`call: ${c.failure ?? "success"}`);
      if (c.launched > 2) this.reached.add("call of three copies or more");
    }
    for (const a of this.world.attempts) this.reached.add(`${a.kind}: ${a.outcome}`);
    for (const [reason, count] of Object.entries(this.world.machine.stats.skipped))
      if (count > 0) this.reached.add(`skip: ${reason}`);
  }
}
