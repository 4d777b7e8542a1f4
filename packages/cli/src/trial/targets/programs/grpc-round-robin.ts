/** grpc-js before a gRPC bridge for each backend, in one process; its service config decides how it balances. */
import { createRequire } from "node:module";
import { type FrontAnswer, type FrontRequest, serveFront } from "./front.ts";
import { type AnswerHead, FETCH_PATH, type RequestHead, startBridge } from "./grpc-bridge.ts";
import { asIs, GRPC_STATUS, type GrpcModule, pack, unpack } from "./grpc-module.ts";
import { type ProgramSettings, readSettings } from "./settings.ts";

interface Settings extends ProgramSettings {
  /** Path of `@grpc/grpc-js`. */
  readonly module: string;
  readonly serviceConfig: object;
}

const { port, backends, module, serviceConfig } = readSettings<Settings>();
const grpc = createRequire(import.meta.url)(module) as GrpcModule;
const ports = await Promise.all(backends.map((backend) => startBridge(grpc, backend)));
const address = `ipv4:${ports.map((bridge) => `127.0.0.1:${bridge}`).join(",")}`;
const client = new grpc.Client(address, grpc.credentials.createInsecure(), {
  "grpc.service_config": JSON.stringify(serviceConfig),
});

function send({ method, path, headers, body, signal }: FrontRequest): Promise<FrontAnswer> {
  const head: RequestHead = { method, path, headers };
  const message = pack(head, body ?? new Uint8Array());
  return new Promise((resolve) => {
    const call = client.makeUnaryRequest(FETCH_PATH, asIs, asIs, message, (error, reply) => {
      if (error !== null || reply === undefined) resolve(failureAnswer(error?.code));
      else resolve(successAnswer(reply));
    });
    signal.addEventListener("abort", () => call.cancel());
  });
}

function successAnswer(reply: Buffer): FrontAnswer {
  const { head, body } = unpack<AnswerHead>(reply);
  return { status: head.status, headers: { "content-type": head.contentType }, body };
}

function failureAnswer(code: number = GRPC_STATUS.internal): FrontAnswer {
  const body = Buffer.from(`gRPC status ${code}\n`);
  const headers = { "content-type": "text/plain" };
  switch (code) {
    case GRPC_STATUS.unavailable:
      return { status: 503, headers, body };
    case GRPC_STATUS.deadlineExceeded:
      return { status: 504, headers, body };
    default:
      return { status: 502, headers, body };
  }
}

serveFront(port, send);
