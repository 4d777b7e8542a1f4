/** The part of `@grpc/grpc-js` that is used here; the package is the user's, and is found when the program runs. */
export interface GrpcModule {
  readonly Server: new () => GrpcServer;
  readonly Client: new (address: string, credentials: unknown, options: object) => GrpcClient;
  readonly ServerCredentials: { createInsecure(): unknown };
  readonly credentials: { createInsecure(): unknown };
}

export interface GrpcServer {
  addService(definition: object, handlers: object): void;
  bindAsync(
    address: string,
    credentials: unknown,
    bound: (error: Error | null, port: number) => void,
  ): void;
}

/** On the server: the request's message and its cancellation. */
export interface GrpcServerCall {
  readonly request: Buffer;
  on(event: "cancelled", listener: () => void): unknown;
}

export type GrpcReply = (
  error: { readonly code: number; readonly details: string } | null,
  message?: Buffer,
) => void;

export interface GrpcClient {
  makeUnaryRequest(
    path: string,
    serialize: (message: Buffer) => Buffer,
    deserialize: (message: Buffer) => Buffer,
    message: Buffer,
    reply: (error: { readonly code: number } | null, message?: Buffer) => void,
  ): { cancel(): void };
}

/** Codes of gRPC's status table. */
export const GRPC_STATUS = { deadlineExceeded: 4, internal: 13, unavailable: 14 } as const;

/** Bytes in, bytes out. */
export const asIs = (message: Buffer): Buffer => message;

/** A line of JSON, then the body. */
export function pack(head: object, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

export function unpack<T>(message: Buffer): { readonly head: T; readonly body: Buffer } {
  const end = message.indexOf("\n");
  return {
    head: JSON.parse(message.toString("utf8", 0, end)) as T,
    body: message.subarray(end + 1),
  };
}
