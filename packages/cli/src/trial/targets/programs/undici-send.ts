import type { Dispatcher } from "undici";
import type { FrontAnswer, FrontRequest } from "./front.ts";

/** One request through a dispatcher that chooses the backend itself. */
export async function sendThrough(
  dispatcher: Dispatcher,
  origin: string,
  { method, path, headers, body, signal }: FrontRequest,
): Promise<FrontAnswer> {
  const reply = await dispatcher.request({
    origin,
    path,
    method: method as Dispatcher.HttpMethod,
    headers,
    signal,
    ...(body !== undefined && { body }),
  });
  return { status: reply.statusCode, headers: reply.headers, body: reply.body };
}
