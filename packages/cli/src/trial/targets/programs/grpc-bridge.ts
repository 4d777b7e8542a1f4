import { Pool } from "undici";
import type { FrontRequest } from "./front.ts";
import {
  asIs,
  GRPC_STATUS,
  type GrpcModule,
  type GrpcReply,
  type GrpcServerCall,
  pack,
  unpack,
} from "./grpc-module.ts";

export const FETCH_PATH = "/bobtail.trial.Fleet/Fetch";

export type RequestHead = Pick<FrontRequest, "method" | "path" | "headers">;

export interface AnswerHead {
  readonly status: number;
  readonly contentType: string;
}

/**
 * A gRPC server before one HTTP backend: an answer of 5xx, or none, is UNAVAILABLE.
 *
 * @returns its port.
 */
export function startBridge(grpc: GrpcModule, backend: string): Promise<number> {
  const pool = new Pool(backend);
  const server = new grpc.Server();
  const method = {
    path: FETCH_PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
  const fetch = (call: GrpcServerCall, reply: GrpcReply): void => {
    passOn(pool, call).then(
      ({ head, body }) => {
        if (head.status < 500) reply(null, pack(head, body));
        else reply({ code: GRPC_STATUS.unavailable, details: `HTTP ${head.status}` });
      },
      (error: unknown) => reply({ code: GRPC_STATUS.unavailable, details: String(error) }),
    );
  };
  server.addService({ fetch: method }, { fetch });
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}

async function passOn(
  pool: Pool,
  call: GrpcServerCall,
): Promise<{ readonly head: AnswerHead; readonly body: Uint8Array }> {
  const { head, body } = unpack<RequestHead>(call.request);
  const cancelled = new AbortController();
  call.on("cancelled", () => cancelled.abort());
  const reply = await pool.request({
    path: head.path,
    method: head.method as "GET",
    headers: head.headers,
    signal: cancelled.signal,
    ...(body.length > 0 && { body }),
  });
  const contentType = String(reply.headers["content-type"] ?? "application/octet-stream");
  return { head: { status: reply.statusCode, contentType }, body: await reply.body.bytes() };
}
