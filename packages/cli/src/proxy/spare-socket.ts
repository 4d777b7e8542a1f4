import type { Socket } from "node:net";
import type { Clock } from "bobtail/engine";
import type { buildConnector } from "undici";

type Done = buildConnector.Callback;

/** One connection opened ahead of its use. Replaced when it has grown old, since the other side may be about to close it. */
export class SpareSocket {
  private readonly connector: buildConnector.connector;
  private readonly clock: Clock;
  private readonly maxAgeMs: number;
  private socket: Socket | undefined;
  private openedMs: number;
  private isOpening: boolean;
  private isClosed: boolean;

  constructor(connector: buildConnector.connector, clock: Clock, maxAgeMs: number) {
    this.connector = connector;
    this.clock = clock;
    this.maxAgeMs = maxAgeMs;
    this.socket = undefined;
    this.openedMs = 0;
    this.isOpening = false;
    this.isClosed = false;
  }

  /** Opens one if there is none. A failure is forgotten: the copy that needs a connection will see its own. */
  keep(url: string): void {
    if (this.isOpening || this.isClosed) return;
    if (this.socket !== undefined) {
      if (this.clock.nowMs() - this.openedMs < this.maxAgeMs) return;
      this.release()?.destroy();
    }
    this.isOpening = true;
    this.connector(targetOf(url), (error, socket) => {
      this.isOpening = false;
      if (error !== null) return;
      if (this.isClosed) socket.destroy();
      else this.store(socket);
    });
  }

  /** The spare one, or a new one. Undici expects its answer after this call has returned. */
  connect(target: buildConnector.Options, done: Done): void {
    const spare = this.release();
    if (spare === undefined) {
      this.connector(target, done);
      return;
    }
    setImmediate(() => {
      if (spare.destroyed) this.connector(target, done);
      else done(null, spare);
    });
  }

  close(): void {
    this.isClosed = true;
    this.release()?.destroy();
  }

  private store(socket: Socket): void {
    this.socket = socket;
    this.openedMs = this.clock.nowMs();
    // Alone it must not keep the process alive.
    socket.unref();
    socket.once("close", this.lost);
    // Nothing has been asked on it, so whatever can be read is its end or is out of place.
    socket.once("readable", this.lost);
  }

  private release(): Socket | undefined {
    const { socket } = this;
    this.socket = undefined;
    socket?.off("close", this.lost);
    socket?.off("readable", this.lost);
    socket?.ref();
    return socket?.destroyed === false ? socket : undefined;
  }

  private readonly lost = (): void => {
    this.release()?.destroy();
  };
}

function targetOf(url: string): buildConnector.Options {
  const { hostname, host, protocol, port } = new URL(url);
  const plain = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return { hostname: plain, host, protocol, port };
}
