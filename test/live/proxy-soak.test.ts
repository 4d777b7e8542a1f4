import {
  Agent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { seededRng } from "../../packages/bobtail/src/engine.ts";
import { Testbed, until } from "./proxy-testbed.ts";

/**
 * A long run of ordinary misfortune: one request in ten is given up by its client at a random moment, one reply
 * in fifty is cut short, one attempt in a hundred finds its connection refused.
 * `BOBTAIL_SOAK=200000 npx vitest run test/live/proxy-soak.test.ts` runs it at length.
 */
const REQUESTS = Number(process.env.BOBTAIL_SOAK ?? 3_000);
const SEED = Number(process.env.BOBTAIL_SEED ?? 1);
const CONCURRENCY = 40;
const MAX_BODY = 100_000;

const bed = new Testbed();
afterEach(() => bed.close());

const rng = seededRng(SEED);
const chance = (share: number) => rng.next() < share;
/** Every body is a piece of this, told by its place and length: any wrong byte shows. */
const POOL = Buffer.from(Array.from({ length: 2 * MAX_BODY }, () => rng.below(256)));
const piece = (at: number, size: number) => POOL.subarray(at, at + size);
/** Mostly small, sometimes longer than what is kept for a second attempt. */
const someSize = () => (chance(0.1) ? rng.below(MAX_BODY) : rng.below(3_000));

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const counts = {
  whole: 0,
  aborted: 0,
  broken: 0,
  refused: 0,
  wrongReplies: 0,
  wrongRequests: 0,
  cut: 0,
  reset: 0,
  closedKept: 0,
};

function serve(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const [, at = "0", size = "0", replyAt = "0", replySize = "0"] = (request.url ?? "").split("/");
  if (!body.equals(piece(Number(at), Number(size)))) counts.wrongRequests++;
  const reply = piece(Number(replyAt), Number(replySize));
  if (chance(0.01)) {
    counts.closedKept++;
    // A server that closes a kept connection, perhaps just as it is used again.
    response.on("finish", () => setTimeout(() => request.socket.destroy(), rng.below(3)));
  }
  const answer = () => {
    if (response.destroyed) return;
    const isChunked = chance(0.3);
    response.writeHead(200, isChunked ? {} : { "content-length": reply.length });
    if (chance(0.02)) {
      counts.cut++;
      response.write(reply.subarray(0, reply.length >> 1));
      setImmediate(() => response.destroy());
    } else if (chance(0.2)) {
      response.write(reply.subarray(0, reply.length >> 1));
      setTimeout(() => response.end(reply.subarray(reply.length >> 1)), rng.below(3));
    } else response.end(reply);
  };
  if (chance(0.3)) setTimeout(answer, rng.below(12));
  else answer();
}

function once(port: number, agent: Agent): Promise<void> {
  const size = chance(0.5) ? 0 : someSize();
  const at = rng.below(MAX_BODY);
  const replySize = someSize();
  const replyAt = rng.below(MAX_BODY);
  const body = piece(at, size);
  const isChunked = chance(0.3);
  const headers: Record<string, string> = {};
  if (size > 0 && !isChunked) headers["content-length"] = String(size);
  if (chance(0.5)) headers["idempotency-key"] = `k${rng.below(1e6)}`;
  return new Promise((resolve) => {
    let isOver = false;
    const over = (kind: "whole" | "aborted" | "broken" | "refused") => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      counts[kind]++;
      resolve();
    };
    const request = httpRequest({
      host: "127.0.0.1",
      port,
      agent,
      method: size > 0 ? "PUT" : "GET",
      path: `/${at}/${size}/${replyAt}/${replySize}`,
      headers,
    });
    const abort = () => {
      over("aborted");
      request.destroy();
    };
    const timer = chance(0.1) ? setTimeout(abort, rng.next() * 8) : undefined;
    request.on("error", () => over("broken"));
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => over("broken"));
      response.on("end", () => {
        if (response.statusCode !== 200) {
          over("refused");
          return;
        }
        if (!Buffer.concat(chunks).equals(piece(replyAt, replySize))) counts.wrongReplies++;
        over("whole");
      });
    });
    if (size === 0) request.end();
    else {
      request.write(body.subarray(0, size >> 1));
      if (chance(0.2)) setTimeout(() => request.end(body.subarray(size >> 1)), rng.below(4));
      else request.end(body.subarray(size >> 1));
    }
  });
}

async function run(count: number, port: number, agent: Agent): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await once(port, agent);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

test(`after ${REQUESTS} requests full of misfortune every count is zero, sockets and heap are flat, and no delivered byte is wrong`, async () => {
  const backends = [
    await bed.backend(serve),
    await bed.backend(serve),
    await bed.backend(serve),
    await bed.backend(serve),
  ];
  for (const { server } of backends) {
    server.on("connection", (socket) => {
      if (chance(0.01)) {
        counts.reset++;
        socket.resetAndDestroy();
      }
    });
  }
  const dead = await bed.deadUrl();
  const proxy = await bed.service([...backends.map((b) => b.url), { url: dead, weight: 0.04 }], {
    balance: { errorPenalty: false },
    hedge: { afterMs: 4 },
    budget: { extraRatio: 0.2, burstCount: 50 },
    retry: { max: 2 },
    deadlineMs: 10_000,
  });
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const open = async () => {
    await proxy.idle();
    const each = backends.map(
      ({ server }) => new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n))),
    );
    return (await Promise.all(each)).reduce((sum, n) => sum + n, 0);
  };
  const heap = () => {
    for (const { requests, bodies } of backends) {
      requests.length = 0;
      bodies.length = 0;
    }
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };

  let heapBefore = 0;
  for (let tenth = 1; tenth <= 10; tenth++) {
    await run(REQUESTS / 10, proxy.port, agent);
    expect(await open()).toBeLessThanOrEqual(4 * CONCURRENCY);
    const bytes = heap();
    if (tenth === 3) heapBefore = bytes;
  }
  const heapAfter = heap();
  agent.destroy();
  await proxy.idle();
  await until(() => proxy.running.stats().connections === 0);

  const { stats } = proxy;
  if (process.env.BOBTAIL_SOAK !== undefined) {
    const { hedges, hedges_won, retries, replaced, attempts, calls } = stats;
    const dials = backends.map((b) => b.connections);
    const heapMiB = [heapBefore, heapAfter].map((bytes) => bytes / 2 ** 20);
    console.info({
      ...counts,
      calls,
      attempts,
      hedges,
      hedges_won,
      retries,
      replaced,
      dials,
      heapMiB,
    });
  }
  expect([counts.wrongReplies, counts.wrongRequests]).toEqual([0, 0]);
  expect(counts.whole + counts.aborted + counts.broken + counts.refused).toBe(REQUESTS);
  expect(proxy.outstanding().every((count) => count === 0)).toBe(true);
  expect(stats.calls).toBe(stats.succeeded + stats.failed + stats.aborted);
  expect(stats.endpoints.reduce((sum, e) => sum + e.picks, 0)).toBe(stats.attempts);
  expect(heapAfter - heapBefore).toBeLessThan(16 * 2 ** 20);
  // The run was what it claims to be.
  expect(counts.whole).toBeGreaterThan(REQUESTS * 0.7);
  for (const seen of [counts.aborted, counts.cut, counts.broken, stats.hedges_won, stats.replaced])
    expect(seen).toBeGreaterThan(REQUESTS / 500);
}, 1_800_000);
