import type { Clock, Timers } from "../../core/clock.ts";
import { checkOption } from "../../core/errors.ts";
import type { Rng } from "../../core/rng.ts";
import type { Attempt } from "../../policies/attempt.ts";
import type { Call } from "../../policies/call.ts";
import type { CallMachine } from "../../policies/call-machine.ts";
import type { EndpointOptions } from "../../policies/endpoint.ts";
import type { LatencyClass } from "../../policies/hedger.ts";
import type { CallObserver } from "../../policies/observer.ts";
import type { ServiceOptions } from "../../policies/options.ts";
import type { Port } from "../../policies/port.ts";
import { createService, type Service } from "../../policies/service.ts";
import { AttemptCopy } from "./attempt-copy.ts";
import { type CallContext, currentContext, deadlineOn, withinAttempt } from "./call-context.ts";
import { CallRun } from "./call-run.ts";
import type { CallOptions, Sender } from "./sender.ts";

export interface DriverSetup {
  /** For messages. */
  readonly name: string;
  readonly options: ServiceOptions;
  readonly endpoints: readonly EndpointOptions[];
  readonly clock: Clock;
  readonly timers: Timers;
  readonly rng: Rng;
  readonly observer?: CallObserver | undefined;
}

/** A call as a transport describes it. */
export interface RunOptions extends CallOptions {
  /** The body can be sent again; default true. */
  readonly replayable?: boolean | undefined;
  /** An upper level hedges already: add no copies; default false, or as the context says. */
  readonly noHedge?: boolean | undefined;
}

const DEFAULT_CLASS = "default";

/**
 * Runs the calls of one service on real promises, signals and timers: the machine decides, a `Sender`
 * performs, this carries word between them.
 */
export class ClientDriver implements Port {
  readonly name: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly service: Service;
  readonly machine: CallMachine;
  /** Called at each settle while set. */
  onSettled: (() => void) | undefined;
  private readonly defaultClass: LatencyClass;
  private readonly mayHedge: boolean;

  /** Throws `ERR_BOBTAIL_OPTION` for the first option out of range. */
  constructor(setup: DriverSetup) {
    const { name, options, endpoints, clock, timers, rng, observer } = setup;
    this.name = name;
    this.clock = clock;
    this.timers = timers;
    this.onSettled = undefined;
    const nowMs = clock.nowMs();
    this.service = createService({ options, endpoints, port: this, rng, nowMs, observer });
    this.machine = this.service.machine;
    this.defaultClass = this.service.hedger.classOf(DEFAULT_CLASS);
    this.mayHedge = this.service.hedger.max > 0;
  }

  /**
   * Runs one call. Rejects with the signal's own reason, with an `ERR_BOBTAIL_*` error, or with the cause
   * of a fatal attempt; resolves with the winner's answer, or with the last held one when every copy failed.
   */
  run<T>(sender: Sender<T>, options: RunOptions): Promise<T> {
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const run = new CallRun<T>(this, sender, this.classOf(options));
    const nowMs = this.clock.nowMs();
    try {
      this.describe(run, options, nowMs);
    } catch (error) {
      return Promise.reject(error);
    }
    const promise = new Promise<T>((resolve, reject) => {
      run.resolve = resolve;
      run.reject = reject;
    });
    if (signal !== undefined && signal !== null) run.listen(signal);
    run.starting = true;
    this.machine.start(run.call, nowMs);
    run.starting = false;
    return promise;
  }

  send(attempt: Attempt): void {
    const run = attempt.call.host as CallRun<unknown>;
    const copy = new AttemptCopy(attempt, run);
    attempt.host = copy;
    if (run.starting) {
      run.starting = false;
      perform(run, copy);
    } else run.scope.runInAsyncScope(perform, undefined, run, copy);
  }

  cancel(attempt: Attempt): void {
    (attempt.host as AttemptCopy<unknown>).cancel();
  }

  wakeAt(call: Call, atMs: number): void {
    this.timers.wakeAt(call.host as CallRun<unknown>, atMs);
  }

  settle(call: Call, nowMs: number): void {
    (call.host as CallRun<unknown>).settled(nowMs);
    this.onSettled?.();
  }

  private classOf(options: RunOptions): LatencyClass {
    return options.key === undefined ? this.defaultClass : this.service.hedger.classOf(options.key);
  }

  private describe<T>(run: CallRun<T>, options: RunOptions, nowMs: number): void {
    const { call } = run;
    const { deadlineMs, cost } = options;
    call.deadlineMs = nowMs + this.service.deadlineMs;
    if (deadlineMs !== undefined) {
      checkOption({ deadlineMs }, "milliseconds above 0", deadlineMs > 0);
      if (nowMs + deadlineMs < call.deadlineMs) call.deadlineMs = nowMs + deadlineMs;
    }
    if (cost !== undefined) {
      checkOption({ cost }, "a number above 0", cost > 0 && cost < Number.POSITIVE_INFINITY);
      call.cost = cost;
    }
    call.idempotent = options.idempotent ?? false;
    call.replayable = options.replayable ?? true;
    call.upperLevel = options.noHedge ?? false;
    const context = currentContext();
    if (context !== undefined) this.inherit(call, context);
    run.noHedge = call.upperLevel || (this.mayHedge && call.idempotent && call.replayable);
  }

  private inherit(call: Call, context: CallContext): void {
    const deadlineMs = deadlineOn(this.clock, context);
    if (deadlineMs < call.deadlineMs) call.deadlineMs = deadlineMs;
    if (context.noHedge) call.upperLevel = true;
  }
}

function perform<T>(run: CallRun<T>, copy: AttemptCopy<T>): void {
  withinAttempt(run, trySend, run.sender, copy);
}

function trySend<T>(sender: Sender<T>, copy: AttemptCopy<T>): void {
  try {
    sender.send(copy, copy);
  } catch (error) {
    copy.failed(error);
  }
}
