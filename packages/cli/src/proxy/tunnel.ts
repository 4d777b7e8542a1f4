import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface TunnelOptions {
  /** Neither side says anything for that long: both are closed. */
  readonly idleMs: number;
  /** Once, when both sides are closed. */
  readonly closed: () => void;
}

/** Lets two connections talk. An end of one is passed to the other; a broken one takes the other with it. */
export function joinTunnel(client: Socket, upstream: Duplex, options: TunnelOptions): void {
  const { idleMs, closed } = options;
  let open = 2;
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  const oneClosed = () => {
    open--;
    end();
    if (open === 0) closed();
  };
  for (const side of [client, upstream]) {
    side.on("error", end);
    side.once("close", oneClosed);
  }
  client.setTimeout(Math.min(idleMs, 2_147_483_647), end);
  client.pipe(upstream);
  upstream.pipe(client);
  // One side may have closed while the switch was on its way.
  if (client.destroyed || upstream.destroyed) end();
}
