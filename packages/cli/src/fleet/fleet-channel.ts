import type { ChildProcess } from "node:child_process";
import type { FleetAnswer, FleetQuestion, FleetReply, FleetRequest } from "./fleet-messages.ts";

interface Waiting {
  readonly what: FleetRequest["kind"];
  readonly timer: NodeJS.Timeout;
  resolve(reply: FleetReply): void;
  reject(error: Error): void;
}

/** Questions to the fleet's process, as many at a time as one likes; each has its answer or fails by a time limit. */
export class FleetChannel {
  private readonly child: ChildProcess;
  private readonly waiting: Map<number, Waiting>;
  private lastId: number;

  constructor(child: ChildProcess) {
    this.child = child;
    this.waiting = new Map();
    this.lastId = 0;
    child.on("message", ({ id, reply }: FleetAnswer) => this.answered(id, reply));
    child.once("exit", () => this.failAll("ended unexpectedly"));
    child.on("error", (error) => this.failAll(`failed: ${error.message}`));
  }

  get isOpen(): boolean {
    const { exitCode, signalCode, connected } = this.child;
    return exitCode === null && signalCode === null && connected;
  }

  ask(request: FleetRequest, timeoutMs: number): Promise<FleetReply> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const late = (): void => this.fail(id, `did not answer "${request.kind}"`);
      const timer = setTimeout(late, timeoutMs);
      this.waiting.set(id, { what: request.kind, timer, resolve, reject });
      if (!this.isOpen) this.fail(id, "ended unexpectedly");
      else
        this.child.send({ id, request } satisfies FleetQuestion, (error) => {
          if (error !== null) this.fail(id, `failed: ${error.message}`);
        });
    });
  }

  private answered(id: number, reply: FleetReply): void {
    const asked = this.take(id);
    if (asked === undefined) return;
    if (reply.kind === "failed")
      asked.reject(new Error(`the fleet's process could not ${asked.what}: ${reply.message}`));
    else asked.resolve(reply);
  }

  private failAll(why: string): void {
    for (const id of [...this.waiting.keys()]) this.fail(id, why);
  }

  private fail(id: number, why: string): void {
    this.take(id)?.reject(new Error(`the fleet's process ${why}`));
  }

  private take(id: number): Waiting | undefined {
    const asked = this.waiting.get(id);
    clearTimeout(asked?.timer);
    this.waiting.delete(id);
    return asked;
  }
}
