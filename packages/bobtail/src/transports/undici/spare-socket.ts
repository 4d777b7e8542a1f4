import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import type { Clock } from "../../core/clock.ts";
import type { Dialer } from "./undici-dialer.ts";

/** A failed spare is not tried again sooner, so that a dead endpoint is not dialled twice a call. */
const SPARE_PAUSE_MS = 1000;

/** One connection opened before anyone needs it: the second copy to a virtual endpoint takes it. */
export class SpareSocket {
  private readonly dialer: Dialer;
  private readonly target: buildConnector.Options;
  private readonly clock: Clock;
  private readonly maxAgeMs: number;
  private socket: Socket | undefined;
  private dialling: boolean;
  private closed: boolean;
  private openedMs: number;
  private notBeforeMs: number;

  constructor(
    dialer: Dialer,
    target: buildConnector.Options,
    { clock, maxAgeMs }: { clock: Clock; maxAgeMs: number },
  ) {
    this.dialer = dialer;
    this.target = target;
    this.clock = clock;
    this.maxAgeMs = maxAgeMs;
    this.socket = undefined;
    this.dialling = false;
    this.closed = false;
    this.openedMs = 0;
    this.notBeforeMs = Number.NEGATIVE_INFINITY;
  }

  /** Open one, unless there is one or one is on its way. */
  keep(): void {
    const nowMs = this.clock.nowMs();
    if (this.socket !== undefined && nowMs - this.openedMs > this.maxAgeMs) this.drop();
    if (this.socket !== undefined || this.dialling || this.closed) return;
    if (nowMs < this.notBeforeMs) return;
    this.dialling = true;
    this.dialer.dial(this.target, (error, socket) => {
      this.dialling = false;
      if (error !== null) this.notBeforeMs = this.clock.nowMs() + SPARE_PAUSE_MS;
      else if (this.closed) socket.destroy();
      else this.hold(socket);
    });
  }

  /** The open spare, if there is one for that server name; it is the caller's now. */
  take(servername: string | null | undefined): Socket | undefined {
    const socket = this.socket;
    if (socket === undefined) return undefined;
    if (servername && servername !== this.target.servername) return undefined;
    this.forget();
    if (socket.destroyed || this.clock.nowMs() - this.openedMs > this.maxAgeMs) {
      socket.destroy();
      return undefined;
    }
    socket.ref();
    return socket;
  }

  close(): void {
    this.closed = true;
    this.drop();
  }

  private readonly drop = (): void => {
    const socket = this.socket;
    this.forget();
    socket?.destroy();
  };

  private hold(socket: Socket): void {
    this.socket = socket;
    this.openedMs = this.clock.nowMs();
    socket.unref();
    // Nothing has been asked on it, so whatever can be read is its end or is out of place.
    socket.on("readable", this.drop);
    socket.on("close", this.drop);
  }

  private forget(): void {
    this.socket?.off("readable", this.drop);
    this.socket?.off("close", this.drop);
    this.socket = undefined;
  }
}
