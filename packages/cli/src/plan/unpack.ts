import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, type Gunzip } from "node:zlib";
import { CommandFailure } from "../terminal/failure.ts";
import type { Place } from "./latency-log.ts";

/** Unpacked at one time, bytes: a file that unpacks to any size takes no more memory. */
const CHUNK_BYTES = 131_072;
/** As many bytes as the longest magic has. */
const HEAD_BYTES = 6;
const GZIP = /^1f8b/;

/** Packed in ways that this Node cannot unpack, by their first bytes. */
const FOREIGN = [
  { name: "zstd", magic: /^28b52ffd/, command: "zstd -dc" },
  { name: "xz", magic: /^fd377a585a00/, command: "xz -dc" },
  { name: "bzip2", magic: /^425a683[1-9]3141/, command: "bzip2 -dc" },
  { name: "zip", magic: /^504b0304/, command: "unzip -p" },
] as const;

/**
 * The bytes of a log, unpacked where its first bytes are those of gzip, whatever its name; piece by piece.
 *
 * Fails with a `CommandFailure` where gzip data is corrupt or cut short, and for other packers.
 *
 * @param place - of the line that is being read.
 */
export async function* unpacked(input: Readable, place: Place): AsyncGenerator<Buffer> {
  try {
    const pieces = withHead(input);
    const { value: head = Buffer.alloc(0) } = await pieces.next();
    const whole = followed(head, pieces);
    yield* isGzip(head, place) ? gunzipped(whole, place) : whole;
  } finally {
    // Whoever stops early does not wait for what standard input may never say.
    input.destroy();
  }
}

function isGzip(head: Buffer, place: Place): boolean {
  const magic = head.subarray(0, HEAD_BYTES).toString("hex");
  const foreign = FOREIGN.find((packer) => packer.magic.test(magic));
  if (foreign !== undefined)
    throw new CommandFailure(
      `${place()}: packed with ${foreign.name}`,
      `Unpack it: \`${foreign.command} FILE\`, and give its output as -. Only gzip is unpacked here.`,
    );
  return GZIP.test(magic);
}

/** The same bytes, of which the first piece is long enough to be known by. */
async function* withHead(input: Readable): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of input) {
    const bytes = piece as Buffer;
    if (head === undefined) yield bytes;
    else {
      head = Buffer.concat([head, bytes]);
      if (head.length < HEAD_BYTES) continue;
      yield head;
      head = undefined;
    }
  }
  if (head !== undefined) yield head;
}

async function* followed(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}

async function* gunzipped(packed: AsyncIterable<Buffer>, place: Place): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // What fails there is met below: the pipeline hands every error on to its last stream.
  pipeline(packed, gunzip).catch(() => {});
  try {
    for await (const piece of gunzip) yield piece as Buffer;
  } catch (error) {
    throw explain(error, gunzip, place);
  } finally {
    gunzip.destroy();
  }
}

function explain(error: unknown, gunzip: Gunzip, place: Place): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const at = `at its byte ${gunzip.bytesWritten}`;
  if (code === "Z_BUF_ERROR")
    return new CommandFailure(
      `${place()}: the gzip data is cut short, ${at}`,
      "Copy the file again, or wait until it is written. To use what there is: `gzip -dc FILE`, and give its output as -.",
    );
  if (!code.startsWith("Z_")) return error;
  return new CommandFailure(
    `${place()}: the gzip data is corrupt (${(error as Error).message}), ${at}`,
    "Copy the file again; `gzip -t FILE` tells whether it is whole.",
  );
}
