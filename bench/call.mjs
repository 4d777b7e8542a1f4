// What one client call costs beyond the callee's own work, beside the peers that a Node service would use.
//   node --expose-gc bench/call.mjs
import { createClient } from "bobtail";
import { handleAll, retry, TimeoutStrategy, timeout, wrap } from "cockatiel";
import CircuitBreaker from "opossum";
import { compare, nsPerOp, table } from "./harness.mjs";

const COUNT = 100_000;
const endpoints = Array.from({ length: 10 }, (_, i) => `http://127.0.0.1:${9000 + i}`);
const options = {
  endpoints,
  hedge: { afterMs: 20 },
  budget: { extraRatio: 0.05 },
  deadlineMs: 800,
};
const idempotent = { idempotent: true };
const answer = async () => 1;

const client = createClient(options);
const plain = () =>
  nsPerOp(COUNT, async (n) => {
    for (let i = 0; i < n; i++) await answer();
  });
const bobtail = (fn, callOptions) => () =>
  nsPerOp(COUNT, async (n) => {
    for (let i = 0; i < n; i++) await client.call(fn, callOptions);
  });

const callers = new AbortController();
const policy = wrap(retry(handleAll, { maxAttempts: 1 }), timeout(800, TimeoutStrategy.Aggressive));
const breaker = new CircuitBreaker(answer, { timeout: 800 });

/** The code that most services write by hand: one timer for the deadline, one for the hedge, one controller. */
async function naive(fn) {
  const controller = new AbortController();
  let deadline;
  let hedge;
  const late = new Promise((_, reject) => {
    deadline = setTimeout(() => reject(new Error("deadline")), 800);
  });
  const second = new Promise((resolve, reject) => {
    hedge = setTimeout(() => fn(controller.signal).then(resolve, reject), 20);
  });
  try {
    return await Promise.race([fn(controller.signal), second, late]);
  } finally {
    clearTimeout(deadline);
    clearTimeout(hedge);
    controller.abort();
  }
}

const costs = await compare({
  "bobtail: hedge and deadline armed": bobtail(answer, idempotent),
  "bobtail: with the caller's signal": bobtail(answer, { ...idempotent, signal: callers.signal }),
  "bobtail: callee reads its signal": bobtail(
    async (_, attempt) => attempt.signal.aborted,
    idempotent,
  ),
  "cockatiel: retry + timeout": () =>
    nsPerOp(COUNT / 4, async (n) => {
      for (let i = 0; i < n; i++) await policy.execute(answer);
    }),
  "opossum: breaker with timeout": () =>
    nsPerOp(COUNT / 4, async (n) => {
      for (let i = 0; i < n; i++) await breaker.fire();
    }),
  "naive: AbortController + setTimeout + race": () =>
    nsPerOp(COUNT / 4, async (n) => {
      for (let i = 0; i < n; i++) await naive(answer);
    }),
  "the callee alone": plain,
});
table("One client call, nothing fires", costs);

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
const mixed = await compare({
  "bobtail: four clients, four callees": () =>
    nsPerOp(COUNT, async (n) => {
      for (let i = 0; i < n; i++) await clients[i & 3].call(callees[(i >> 2) & 3], idempotent);
    }),
  "bobtail: one client, one callee": bobtail(answer, idempotent),
});
table("Mixed shapes", mixed);

// A hedge that fires and wins: the primary never answers by itself.
const eager = createClient({
  endpoints,
  hedge: { afterMs: 0 },
  budget: { extraRatio: 2, burstCount: 10_000 },
  limit: { outstanding: 1e6, perEndpoint: 1e6 },
});
const won = await compare({
  "bobtail: a hedge fires and wins, signals unread": () =>
    nsPerOp(COUNT / 20, async (n) => {
      const calls = [];
      for (let i = 0; i < n; i++) {
        calls.push(
          eager.call(
            (_, attempt) => (attempt.number === 1 ? new Promise(() => {}) : 1),
            idempotent,
          ),
        );
      }
      await Promise.all(calls);
    }),
});
table("A hedge fires and wins (all calls at once, so that the timer's wait is shared)", won);

for (const each of [...clients, eager]) await each.close();
breaker.shutdown();
