import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Peer } from "./peer.ts";

/** How long a client may go on sending after its last answer before the connection is cut. */
const LINGER_MS = 2_000;

/**
 * The way to answer a request with which Node has handed over its connection (a switch of protocols, CONNECT).
 * Node has taken its own listeners away, so what they did is done here. `undefined`: requests before it on the
 * same connection have no answer yet; they get theirs, then the connection ends.
 */
export function takeSocket(
  request: IncomingMessage,
  head: Buffer,
  peer: Peer,
): ServerResponse | undefined {
  const { socket } = request;
  const destroy = (): void => void socket.destroy();
  socket.on("error", destroy);
  socket.on("timeout", destroy);
  socket.on("drain", () => {
    for (const exchange of peer.running) exchange.drained();
  });
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  try {
    response.assignSocket(socket);
  } catch {
    // Only another answer, still unfinished, can hold the connection.
    peer.isLeaving = true;
    socket.once("end", destroy);
    socket.resume();
    if (peer.running.size === 0) closeSoon(socket);
    return undefined;
  }
  if (head.length > 0) socket.unshift(head);
  watchEnd(socket, peer);
  response.once("finish", () => {
    peer.unwatch?.();
    response.detachSocket(socket);
    closeSoon(socket);
  });
  return response;
}

/**
 * Ends a connection so that its last answer arrives: closing on bytes that nobody has read would reset it, so what
 * the client still sends is read and forgotten, for a while.
 */
export function closeSoon(socket: Socket): void {
  const destroy = (): void => void socket.destroy();
  socket.once("end", destroy);
  socket.once("finish", () => {
    const timer = setTimeout(destroy, LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
    socket.resume();
  });
  socket.end();
}

/** An end is seen only by a reader; but nothing is taken, because it belongs to the conversation to come. */
function watchEnd(socket: Socket, peer: Peer): void {
  const destroy = (): void => void socket.destroy();
  const look = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  socket.on("readable", look);
  socket.once("end", destroy);
  peer.unwatch = () => {
    socket.off("readable", look);
    socket.off("end", destroy);
    peer.unwatch = undefined;
  };
}
