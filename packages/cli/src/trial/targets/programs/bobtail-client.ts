/** Bobtail's own client in place of another library's pool, so that like is compared with like. */
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { createClient, type ServiceOptions } from "bobtail";
import { fetchTransport } from "bobtail/undici";
import { type FrontAnswer, type FrontRequest, serveFront } from "./front.ts";
import { type ProgramSettings, readSettings } from "./settings.ts";

interface Settings extends ProgramSettings {
  readonly service: ServiceOptions;
}

const { port, backends, service } = readSettings<Settings>();
const client = createClient({ ...service, endpoints: backends, transport: fetchTransport() });

async function send({ method, path, headers, body, signal }: FrontRequest): Promise<FrontAnswer> {
  const response = await client.fetch(path, {
    method,
    headers: { ...headers },
    redirect: "manual",
    signal,
    ...(body !== undefined && { body: Buffer.from(body) }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body:
      response.body === null
        ? new Uint8Array()
        : Readable.fromWeb(response.body as ReadableStream<Uint8Array>),
  };
}

serveFront(port, send);
