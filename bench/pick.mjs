// What one pick costs, beside the simplest one there is.
//   node bench/pick.mjs
import { Call, createService, seededRng } from "bobtail/engine";
import { compare, nsPerOp, table } from "./harness.mjs";

const COUNT = 2_000_000;
const port = { send() {}, cancel() {}, wakeAt() {}, settle() {} };
const endpoints = Array.from({ length: 10 }, (_, i) => ({ name: `http://127.0.0.1:${9000 + i}` }));

function contestant(balance) {
  const { balancer, hedger } = createService({
    options: { balance },
    endpoints,
    port,
    rng: seededRng(1),
    nowMs: 0,
  });
  for (const [i, endpoint] of balancer.endpoints.entries()) {
    endpoint.outstanding = i % 4;
    endpoint.waiting = i % 4;
    endpoint.waitingSinceSumMs = (i % 4) * 995;
    balancer.observe(endpoint, 5 + i, "win", 990 + i);
  }
  const call = new Call(hedger.classOf("GET"), undefined);
  return () =>
    nsPerOp(COUNT, (n) => {
      let nowMs = 1000;
      for (let i = 0; i < n; i++) {
        nowMs += 0.01;
        const endpoint = balancer.pick(call, "primary", nowMs);
        if (endpoint === undefined) throw new Error("no endpoint");
      }
    });
}

let turn = 0;
const costs = await compare({
  "two choices on peak-ewma": contestant({ policy: "two-choices", load: "peak-ewma" }),
  "two choices on outstanding": contestant({ policy: "two-choices", load: "outstanding" }),
  "least on peak-ewma (scan of ten)": contestant({ policy: "least", load: "peak-ewma" }),
  "round robin, weighted, error penalty": contestant({ policy: "round-robin" }),
  random: contestant({ policy: "random" }),
  "a counter modulo ten": () =>
    nsPerOp(COUNT, (n) => {
      let sum = 0;
      for (let i = 0; i < n; i++) {
        turn = (turn + 1) % 10;
        sum += endpoints[turn].name.length;
      }
      if (sum === 0) throw new Error("unused");
    }),
});
table("One pick among ten endpoints", costs);
