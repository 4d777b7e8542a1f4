import { BobtailError } from "../../core/errors.ts";
import type { AttemptKind } from "../../policies/attempt.ts";
import type {
  FetchConnections,
  FetchInit,
  FetchMarks,
  FetchSetup,
  FetchTransport,
  PreparedFetch,
} from "../client/fetch-transport-port.ts";
import type { AttemptReports, LiveAttempt, Sender } from "../client/sender.ts";
import {
  type Curable,
  curableOf,
  isIdempotentMethod,
  judgeAnswer,
} from "../undici/fetch-answer.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** One copy of a request as a script sees it, and what became of it. */
export interface ScriptedRequest {
  /** The endpoint's name; its origin unless another was given. */
  readonly endpoint: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  readonly kind: AttemptKind;
  /** 1 for the primary. */
  readonly number: number;
  readonly sentAtMs: number;
  /** When this copy was cancelled; `undefined` while it was not. */
  readonly cancelledAtMs: number | undefined;
  readonly noHedge: boolean;
}

/** How a scripted endpoint answers: after that long, with a response or an error. */
export interface ScriptedReply {
  /** ms >= 0; default 0. Infinity: never. */
  readonly afterMs?: number | undefined;
  /** In [200, 599], default 200. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default empty. */
  readonly body?: string | undefined;
  /** The connection breaks with this error instead. */
  readonly error?: unknown;
}

export interface ScriptedTransport extends FetchTransport {
  /** Every copy that was sent, in order. */
  readonly requests: readonly ScriptedRequest[];
}

type Script = (request: ScriptedRequest) => ScriptedReply;

/** A Response of these has no body. */
const NO_BODY: readonly number[] = [204, 205, 304];

/**
 * A transport without sockets, for the tests of those who call a service with `fetch`: every copy is
 * answered as the script says, in virtual time. What counts as a failure, and what `retry-after` asks for, is
 * judged as `fetchTransport` does. A mistake in a reply rejects the call with it.
 *
 * ```ts
 * const time = virtualTime();
 * const transport = scriptedTransport(time, (request) =>
 *   request.kind === "primary" ? { afterMs: 500, body: "slow" } : { afterMs: 5, body: "quick" },
 * );
 * const client = createClient({
 *   endpoints: ["http://a:80", "http://b:80"],
 *   transport, clock: time, timers: time, hedge: { afterMs: 20 },
 * });
 * const response = await time.run(client.fetch("/q"));
 * await response.text();   // "quick", and time.nowMs() is 25
 * transport.requests;      // two copies; the first was cancelled at 25
 * ```
 */
export function scriptedTransport(time: VirtualTime, script: Script): ScriptedTransport {
  const requests: ScriptedRequest[] = [];
  return {
    requests,
    connect: (setup) => new ScriptedConnections(time, script, setup, requests),
  };
}

class ScriptedConnections implements FetchConnections {
  private readonly time: VirtualTime;
  private readonly script: Script;
  private readonly curable: Curable;
  private readonly requests: ScriptedRequest[];
  private origins: readonly string[];

  constructor(time: VirtualTime, script: Script, setup: FetchSetup, requests: ScriptedRequest[]) {
    this.time = time;
    this.script = script;
    this.curable = curableOf(setup.options.retry);
    this.requests = requests;
    this.origins = [];
  }

  prepare(input: string | URL | Request, init: FetchInit, marks: FetchMarks): PreparedFetch {
    const given = input instanceof Request ? input : undefined;
    const url = new URL(given?.url ?? (input as string | URL), this.origins[0] ?? "http://none");
    if (this.origins.length > 0 && !this.origins.includes(url.origin))
      throw new BobtailError(
        "ERR_BOBTAIL_FOREIGN_ORIGIN",
        `${url.origin} is not an endpoint of this service`,
        { origin: url.origin },
      );
    const method = (init.method ?? given?.method ?? "GET").toUpperCase();
    const headers = new Headers(init.headers ?? given?.headers);
    const safe = isIdempotentMethod(method) || headers.has("idempotency-key");
    const request = { method, headers, path: url.pathname + url.search, noHedge: marks.noHedge };
    return {
      sender: this.sender(request),
      idempotent: init.idempotent ?? safe,
      replayable:
        !(init.body instanceof ReadableStream) && (given === undefined || given.body === null),
      key: init.key,
      signal: init.signal === undefined ? given?.signal : init.signal,
    };
  }

  setEndpoints(endpoints: readonly { readonly url: URL }[]): void {
    this.origins = endpoints.map((e) => e.url.origin);
  }

  async close(): Promise<void> {}

  private sender(
    request: Pick<ScriptedRequest, "method" | "headers" | "path" | "noHedge">,
  ): Sender<Response> {
    return {
      send: (attempt, reports) => {
        const stop = new AbortController();
        const log = { ...request, ...describe(attempt), sentAtMs: this.time.nowMs() };
        const entry = { ...log, cancelledAtMs: undefined as number | undefined };
        this.requests.push(entry);
        attempt.onCancel((reason) => {
          entry.cancelledAtMs = this.time.nowMs();
          stop.abort(reason);
        });
        const { afterMs = 0, ...reply } = this.script(entry);
        this.time.sleep(afterMs, stop.signal).then(
          () => this.answer(reply, reports),
          // Cancelled: there is nothing left to report.
          () => {},
        );
      },
      release: (response) => {
        response.body?.cancel().catch(() => {});
      },
    };
  }

  private answer(reply: ScriptedReply, reports: AttemptReports<Response>): void {
    if (reply.error !== undefined) {
      if (this.curable.has("reset")) reports.failed(reply.error);
      else reports.fatal(reply.error);
      return;
    }
    const { status = 200, headers = {} } = reply;
    const body = NO_BODY.includes(status) ? null : (reply.body ?? "");
    let answer: Response;
    try {
      answer = new Response(body, { status, headers });
    } catch (error) {
      reports.fatal(error);
      return;
    }
    const retryAfter = answer.headers.get("retry-after");
    const { isWin, pushbackMs } = judgeAnswer(status, retryAfter, this.curable);
    if (isWin) reports.replied(answer);
    else reports.failed(new Error(`status ${status}`), { answer, pushbackMs });
  }
}

function describe(attempt: LiveAttempt): Pick<ScriptedRequest, "endpoint" | "kind" | "number"> {
  return { endpoint: attempt.endpoint.name, kind: attempt.kind, number: attempt.number };
}
