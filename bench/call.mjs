// What one client call costs beyond the callee's own work, beside the peers that a Node service would use.
//   node bench/call.mjs
import { createClient } from "bobtail";
import { handleAll, retry, TimeoutStrategy, timeout, wrap } from "cockatiel";
import CircuitBreaker from "opossum";
import { best, compare, nsPerOp, table } from "./harness.mjs";

const COUNT = 40_000;
/** Many short rounds, the best of which counts: a round fits between two disturbances. */
const ROUNDS = { rounds: 25, warmups: 3, summary: best };
/** Calls under way at one time where a timer must pass: what they share is one wait of 1 ms. */
const AT_ONCE = 64;
const endpoints = Array.from({ length: 10 }, (_, i) => `http://127.0.0.1:${9000 + i}`);
const options = {
  endpoints,
  hedge: { afterMs: 20 },
  budget: { extraRatio: 0.05 },
  deadlineMs: 800,
};
const idempotent = { idempotent: true };
const answer = async () => 1;
const readsSignal = async (_, attempt) => attempt.signal.aborted;

/** One after the other. */
const each = (count, call) => () =>
  nsPerOp(count, async (n) => {
    for (let i = 0; i < n; i++) await call(i);
  });
const client = createClient(options);
/** A loop of its own, so that the optimiser sees in it nothing but calls of a client. */
const calls = (count, fn, callOptions) => () =>
  nsPerOp(count, async (n) => {
    for (let i = 0; i < n; i++) await client.call(fn, callOptions);
  });
const alone = () =>
  nsPerOp(COUNT, async (n) => {
    for (let i = 0; i < n; i++) await answer();
  });
const callers = new AbortController();
const withSignal = { ...idempotent, signal: callers.signal };
const policy = wrap(retry(handleAll, { maxAttempts: 1 }), timeout(800, TimeoutStrategy.Aggressive));
const breaker = new CircuitBreaker(answer, { timeout: 800 });

/** The code that most services write by hand: one timer for the deadline, one for the hedge, one controller. */
async function naive(fn, { signal, afterMs = 20 } = {}) {
  const controller = new AbortController();
  let deadline;
  let hedge;
  let abort;
  const late = new Promise((_, reject) => {
    deadline = setTimeout(() => reject(new Error("deadline")), 800);
    abort = () => reject(signal.reason);
  });
  signal?.addEventListener("abort", abort);
  const second = new Promise((resolve, reject) => {
    hedge = setTimeout(() => fn(controller.signal, 2).then(resolve, reject), afterMs);
  });
  try {
    return await Promise.race([fn(controller.signal, 1), second, late]);
  } finally {
    clearTimeout(deadline);
    clearTimeout(hedge);
    signal?.removeEventListener("abort", abort);
    controller.abort();
  }
}

const NAIVE = "naive: AbortController + setTimeout + race";
const COCKATIEL = "cockatiel: retry + timeout";
const costs = await compare(
  {
    "bobtail: hedge and deadline armed": calls(COUNT, answer, idempotent),
    "bobtail: with the caller's signal": calls(COUNT, answer, withSignal),
    "bobtail: callee reads its signal": calls(COUNT / 4, readsSignal, idempotent),
    [NAIVE]: each(COUNT / 8, () => naive(answer)),
    "naive: with the caller's signal": each(COUNT / 8, () =>
      naive(answer, { signal: callers.signal }),
    ),
    [COCKATIEL]: each(COUNT / 8, () => policy.execute(answer)),
    "opossum: breaker with timeout": each(COUNT / 4, () => breaker.fire()),
    "only `new AbortController().signal`": each(COUNT / 4, () => new AbortController().signal),
    "the callee alone": alone,
  },
  ROUNDS,
);
table("One client call, nothing fires", costs, {
  peers: { naive: NAIVE, cockatiel: COCKATIEL },
  budgets: {
    "bobtail: hedge and deadline armed": 500,
    "bobtail: with the caller's signal": 1000,
    "bobtail: callee reads its signal": 4000,
  },
});

// Several clients, callees and options in one process: what a real service looks like to the optimiser.
const clients = [
  client,
  createClient({ endpoints: endpoints.slice(0, 2), retry: { max: 0 } }),
  createClient({ endpoints, balance: { policy: "least", load: "outstanding" } }),
  createClient({
    endpoints,
    balance: { policy: "round-robin" },
    hedge: { afterMs: "auto" },
    budget: { extraRatio: 0.1 },
  }),
];
const callees = [
  answer,
  async (endpoint) => endpoint,
  (_, attempt) => (attempt.number === 1 ? 1 : Promise.resolve(2)),
  async (_, attempt) => {
    attempt.onCancel(() => {});
    return 1;
  },
];
const mixed = await compare(
  {
    "bobtail: one client, one callee": each(COUNT, () => client.call(answer, idempotent)),
    "bobtail: four clients, four callees": each(COUNT, (i) =>
      clients[i & 3].call(callees[(i >> 2) & 3], idempotent),
    ),
  },
  ROUNDS,
);
table("Mixed shapes", mixed, {
  budgets: {
    "bobtail: four clients, four callees": 1.5 * mixed["bobtail: one client, one callee"],
  },
});

// A hedge that fires and wins: the primary never answers by itself. In waves of bounded size, as in a service.
const eager = createClient({
  endpoints,
  hedge: { afterMs: 0 },
  budget: { extraRatio: 2, burstCount: 10_000 },
});
const waves = (call) => () =>
  nsPerOp(AT_ONCE * 50, async (n) => {
    for (let i = 0; i < n; i += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, call));
  });
const never = new Promise(() => {});
const second = (_, attempt) => (attempt.number === 1 ? never : 1);
const HEDGE = "bobtail: a hedge fires and wins, signals unread";
const WAIT = `only the wait: ${AT_ONCE} promises on one timer of 1 ms`;
const won = await compare(
  {
    [HEDGE]: waves(() => eager.call(second, idempotent)),
    "naive: a hedge fires and wins": waves(() =>
      naive((_, number) => (number === 1 ? new Promise(() => {}) : answer()), { afterMs: 0 }),
    ),
    [WAIT]: () =>
      nsPerOp(AT_ONCE * 50, async (n) => {
        for (let i = 0; i < n; i += AT_ONCE) {
          const timer = new Promise((resolve) => setTimeout(resolve, 1));
          await Promise.all(Array.from({ length: AT_ONCE }, () => timer.then(answer)));
        }
      }),
  },
  ROUNDS,
);
won["bobtail: less the wait"] = won[HEDGE] - won[WAIT];
won["naive: less the wait"] = won["naive: a hedge fires and wins"] - won[WAIT];
table(`A hedge fires and wins, ${AT_ONCE} calls at a time`, won, {
  peers: { naive: "naive: a hedge fires and wins" },
  budgets: { "bobtail: less the wait": 800 },
});

for (const one of [...clients, eager]) await one.close();
breaker.shutdown();
