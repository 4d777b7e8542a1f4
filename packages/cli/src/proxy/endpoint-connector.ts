import type { Socket } from "node:net";
import { buildConnector } from "undici";
import type { TlsConfig } from "./config.ts";

const LONGEST_TIMER_MS = 2_147_483_647;

/** How many bytes of replies had been read from a connection when it broke, by its error. */
const readBefore = new WeakMap<object, number>();

/** Whether this error broke a connection that had served another request before. */
export function brokeReused(error: object): boolean {
  const read = readBefore.get(error);
  if (read !== undefined) return read > 0;
  const { socket } = error as { readonly socket?: { readonly bytesRead?: number } };
  return (socket?.bytesRead ?? 0) > 0;
}

/** Opens connections to one endpoint as it is configured, whatever name a request carries. */
export function endpointConnector(
  connectMs: number,
  tls: TlsConfig | undefined,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: Math.min(connectMs, LONGEST_TIMER_MS),
    ...(tls?.serverName !== undefined && { servername: tls.serverName }),
    ...(tls?.ca !== undefined && { ca: tls.ca }),
    ...(tls?.cert !== undefined && { cert: tls.cert }),
    ...(tls?.key !== undefined && { key: tls.key }),
    ...(tls?.verify === false && { rejectUnauthorized: false }),
  });
  return (target, done) => {
    // The Host header of a request names a site, not the endpoint: it must not choose the certificate.
    const { servername: _, ...rest } = target;
    connect(rest, (error, socket) => {
      if (error !== null) {
        done(error, null);
        return;
      }
      noteReads(socket);
      done(null, socket);
    });
  };
}

function noteReads(socket: Socket): void {
  const atStart = socket.bytesRead;
  socket.on("error", (error: NodeJS.ErrnoException) => {
    readBefore.set(error, socket.bytesRead - atStart);
    // By its usual name undici takes a reset for the end of a reply that has no length, which it may not be.
    // Source: RFC 9112, section 8 (incomplete unless the connection ended without an error).
    if (error.code === "ECONNRESET") error.code = "CONNECTION_RESET";
  });
}
