import type { BackendCounts } from "./backend-counts.ts";
import { Door } from "./door.ts";
import type { Fault, RestartFault } from "./fault.ts";
import type { FleetSetup } from "./fleet-options.ts";
import { PortListener } from "./port-listener.ts";

/** Between tries to listen again on a port that another program took. */
const REOPEN_MS = 50;

/** One sick or healthy server: HTTP at the door, the queue of its few workers behind it. */
export interface BackendServer {
  /** Settles once the fault of its options is in force, with the port. */
  listen(): Promise<number>;
  counts(): BackendCounts;
  /** In place of the fault before; undefined heals. Settles when it is in force; a restart when it is down. */
  control(fault: Fault | undefined): Promise<void>;
  /** Ends all work, answering 503 to whoever waits; counts and random streams start anew, and so does the fault of its options. */
  reset(): Promise<void>;
  close(): void;
}

/** `lagged` is told how late each reply left. Backend `index` draws from a stream of its own. */
export function createBackendServer(
  setup: FleetSetup,
  index: number,
  lagged: (lagMs: number) => void,
): BackendServer {
  const door = new Door(setup, index, lagged);
  const options = setup.backends[index];
  const listener = new PortListener(
    (request, response) => door.enter(request, response),
    options?.port,
  );
  const switcher = new FaultSwitch(door, listener);
  const initial = options?.fault;
  return {
    async listen() {
      const port = await listener.open();
      await switcher.control(initial);
      return port;
    },
    counts: () => door.read(),
    control: (fault) => switcher.control(fault),
    reset() {
      door.reset();
      return switcher.control(initial);
    },
    close() {
      switcher.end();
      door.reset();
      listener.close();
    },
  };
}

/** Puts one fault after another in force, each after the one before is. */
class FaultSwitch {
  private readonly door: Door;
  private readonly listener: PortListener;
  private last: Promise<void>;
  private revival: NodeJS.Timeout | undefined;
  private ended: boolean;

  constructor(door: Door, listener: PortListener) {
    this.door = door;
    this.listener = listener;
    this.last = Promise.resolve();
    this.revival = undefined;
    this.ended = false;
  }

  control(fault: Fault | undefined): Promise<void> {
    const done = this.last.then(() => this.change(fault));
    this.last = done.catch(() => {});
    return done;
  }

  end(): void {
    this.ended = true;
    clearTimeout(this.revival);
  }

  private async change(fault: Fault | undefined): Promise<void> {
    if (this.ended) return;
    clearTimeout(this.revival);
    if (fault?.kind === "gone" || fault?.kind === "restart") {
      this.door.lose();
      this.door.setFault(undefined);
      await this.listener.drop();
      if (fault.kind === "restart") this.reviveIn(fault.downMs, fault);
      return;
    }
    this.door.setFault(fault);
    if (!this.listener.isOpen) await this.listener.open();
  }

  private reviveIn(delayMs: number, fault: RestartFault): void {
    if (this.ended) return;
    this.revival = setTimeout(() => {
      this.control(fault.then).catch(() => this.reviveIn(REOPEN_MS, fault));
    }, delayMs);
  }
}
