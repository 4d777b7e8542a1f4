import { Agent, get } from "node:http";
import { connect } from "node:net";

export interface Heard {
  /** What came, in order: `200`, `body`, `end`, `ECONNRESET`, `silence` where the client gave up waiting. */
  readonly events: readonly string[];
  readonly bodyBytes: number;
}

export interface AskOptions {
  readonly agent?: Agent;
  readonly headers?: Record<string, string>;
  /** How long the client listens for something new before it calls that silence; ms. */
  readonly patienceMs?: number;
}

/** One GET by the plainest of clients, and all that it hears. Never rejects. */
export function ask(url: string, options: AskOptions = {}): Promise<Heard> {
  const { agent, headers = {}, patienceMs = 5_000 } = options;
  const events: string[] = [];
  let bodyBytes = 0;
  return new Promise((resolve) => {
    const request = get(url, { agent: agent ?? new Agent(), headers });
    let timer: NodeJS.Timeout | undefined;
    const over = (event: string): void => {
      clearTimeout(timer);
      events.push(event);
      resolve({ events, bodyBytes });
      request.destroy();
    };
    const listenOn = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => over("silence"), patienceMs);
    };
    const failed = (error: NodeJS.ErrnoException): void => over(error.code ?? error.message);
    listenOn();
    request.on("error", failed);
    request.on("response", (response) => {
      events.push(`${response.statusCode}`);
      listenOn();
      response.on("data", (chunk: Buffer) => {
        if (bodyBytes === 0) events.push("body");
        bodyBytes += chunk.length;
        listenOn();
      });
      response.on("end", () => over("end"));
      response.on("error", failed);
    });
  });
}

/** In one word: the last event, or the status of an answer that came whole. */
export async function outcome(url: string, options?: AskOptions): Promise<string> {
  const { events } = await ask(url, options);
  const last = events.at(-1) ?? "nothing";
  return last === "end" ? (events[0] ?? last) : last;
}

/** An open connection that sends nothing; resolves with how it ended. */
export async function holdConnection(url: string): Promise<{ ended: Promise<string> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const ended = new Promise<string>((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once("end", () => resolve("closed in order"));
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  return { ended };
}

export function tally(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of outcomes) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
