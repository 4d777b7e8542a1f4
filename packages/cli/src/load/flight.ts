import type { Dispatcher } from "undici";
import type { LoadSection } from "./load-report.ts";

export type FlightOutcome = "ok" | "http-error" | "transport-error" | "timeout" | "open";

/** One request on its way: the handler that undici calls, and a node of the list of open ones. */
export class Flight implements Dispatcher.DispatchHandler {
  readonly section: LoadSection;
  readonly plannedMs: number;
  previous: Flight | undefined;
  next: Flight | undefined;
  private readonly landed: (flight: Flight, outcome: FlightOutcome) => void;
  private controller: Dispatcher.DispatchController | undefined;
  private status: number;
  private over: boolean;

  constructor(
    section: LoadSection,
    plannedMs: number,
    landed: (flight: Flight, outcome: FlightOutcome) => void,
  ) {
    this.section = section;
    this.plannedMs = plannedMs;
    this.landed = landed;
    this.previous = undefined;
    this.next = undefined;
    this.controller = undefined;
    this.status = 0;
    this.over = false;
  }

  /** Stop waiting for it. What undici reports later does not count. */
  end(outcome: FlightOutcome): void {
    if (this.over) return;
    this.over = true;
    this.landed(this, outcome);
    if (outcome === "timeout" || outcome === "open") this.controller?.abort(new Error(outcome));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.over) controller.abort(new Error("given up before it was sent"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    // 1xx come first; the last one is the answer.
    this.status = statusCode;
  }

  /** Bodies are read to their end and thrown away. */
  onResponseData(): void {}

  onResponseEnd(): void {
    this.end(this.status < 400 ? "ok" : "http-error");
  }

  onResponseError(): void {
    this.end("transport-error");
  }
}
