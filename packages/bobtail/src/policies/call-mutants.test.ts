import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { CallMachine } from "./call-machine.ts";
import { runSchedule } from "./call-schedule.testbed.ts";
import type { MachineFactory } from "./call-world.testbed.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "bobtail-mutants-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

type Source = "call-machine.ts" | "ledger.ts" | "extra.ts" | "pending-queue.ts" | "attempt.ts";

interface Mutant {
  readonly mistake: string;
  /** The rule that must be reported as broken. */
  readonly breaks: string;
  /** Each text stands in its file exactly once, or the mutant does not count. */
  readonly edits: readonly (readonly [file: Source, from: string, to: string])[];
}

const FILES: readonly Source[] = [
  "call-machine.ts",
  "ledger.ts",
  "extra.ts",
  "pending-queue.ts",
  "attempt.ts",
];

const MUTANTS: readonly Mutant[] = [
  {
    mistake: "settle before cancel",
    breaks: "losers are cancelled before the call settles",
    edits: [
      [
        "call-machine.ts",
        `this.cancelRunning(c, "cancelled", nowMs);
    this.settle(c, "aborted", nowMs);`,
        `this.settle(c, "aborted", nowMs);
    this.cancelRunning(c, "cancelled", nowMs);`,
      ],
      ["call-machine.ts", ` && c.running === 0, "a call settles`, `, "a call settles`],
    ],
  },
  {
    mistake: "record after send",
    breaks: "recorded before it is sent",
    edits: [
      ["call-machine.ts", "    this.ledger.begin(a, nowMs);\n", ""],
      [
        "call-machine.ts",
        "this.port.send(a, nowMs);",
        "this.port.send(a, nowMs);\n    this.ledger.begin(a, nowMs);",
      ],
    ],
  },
  {
    mistake: "wake left after settle",
    breaks: "no wake after settle",
    edits: [["call-machine.ts", "if (a.running) this.wake(a.call);", "this.wake(a.call);"]],
  },
  {
    mistake: "permit before pick",
    breaks: "every permit is a copy",
    edits: [
      [
        "call-machine.ts",
        `    if (!this.policy.budget.tryWithdraw(kind, nowMs)) return this.ledger.skip(c, "budget", nowMs);\n`,
        "",
      ],
      [
        "call-machine.ts",
        `    if (kind === "hedge" && c.dead`,
        `    if (!this.policy.budget.tryWithdraw(kind, nowMs)) return this.ledger.skip(c, "budget", nowMs);
    if (kind === "hedge" && c.dead`,
      ],
    ],
  },
  {
    mistake: "permit taken when the timer is set",
    breaks: "every permit is a copy",
    edits: [
      [
        "call-machine.ts",
        "    c.nextAtMs = hedgeDueMs(c, this.policy, nowMs);\n",
        `    c.nextAtMs = hedgeDueMs(c, this.policy, nowMs);
    if (c.nextAtMs < c.deadlineMs && !this.policy.budget.tryWithdraw("hedge", nowMs))
      c.nextAtMs = Number.POSITIVE_INFINITY;\n`,
      ],
      ["call-machine.ts", "if (!this.policy.budget", `if (kind === "retry" && !this.policy.budget`],
    ],
  },
  {
    mistake: "budget not asked",
    breaks: "extra attempts stay within the budget",
    edits: [
      ["call-machine.ts", "if (!this.policy.budget", `if (kind === "hedge" && !this.policy.budget`],
    ],
  },
  {
    mistake: "a commit pays for copies, though the body may break",
    breaks: "extra attempts stay within the budget",
    edits: [
      [
        "ledger.ts",
        `if (outcome === "win") this.policy.budget.deposit(nowMs);
    else this`,
        `if (outcome !== "win") this`,
      ],
      [
        "ledger.ts",
        "a.endpoint.wins++;",
        "a.endpoint.wins++;\n    this.policy.budget.deposit(nowMs);",
      ],
    ],
  },
  {
    mistake: "loser counted as failure",
    breaks: "only failures count as failures",
    edits: [
      [
        "ledger.ts",
        `if (outcome === "failed") {`,
        `if (outcome === "failed" || outcome === "superseded") {`,
      ],
    ],
  },
  {
    mistake: "loser forgotten by the hedger",
    breaks: "each primary teaches the hedger once",
    edits: [["ledger.ts", `const censored = outcome === "superseded" || `, "const censored = "]],
  },
  {
    mistake: "hedge timer counted from the start of the call",
    breaks: "the hedge timer counts from the last launch",
    edits: [["extra.ts", "Math.max(nowMs + hedger", "Math.max(c.startMs + hedger"]],
  },
  {
    mistake: "retry after commit",
    breaks: "nothing is sent after commit",
    edits: [
      [
        "call-machine.ts",
        `if (c.state === "committed") this.finish(a, "body", nowMs);`,
        "if (nowMs < 0) this.finish(a, `body`, nowMs);",
      ],
    ],
  },
  {
    mistake: "another copy after commit when the winner could not be placed",
    breaks: "nothing is sent after commit",
    edits: [
      [
        "call-machine.ts",
        `if (a.call.state === "committed") this.finish(a, "body", nowMs);`,
        "if (nowMs < 0) this.finish(a, `body`, nowMs);",
      ],
    ],
  },
  {
    mistake: "abort ignoring the winner",
    breaks: "threw: bobtail invariant broken: a call settles once, with nothing running",
    edits: [["call-machine.ts", `(a === c.winner && c.state === "committed")`, "a === c.winner"]],
  },
  {
    mistake: "winner's end inside cancel settles beside running losers",
    breaks: "threw: bobtail invariant broken: a call settles once, with nothing running",
    edits: [
      [
        "call-machine.ts",
        "    this.commit(a, nowMs);\n    if (a.running) {",
        `    if (a.call.state === "running") this.commit(a, nowMs);\n    if (a.running) {`,
      ],
    ],
  },
  {
    mistake: "cancel before the state is set",
    breaks: "state is set before cancel",
    edits: [
      [
        "call-machine.ts",
        `      this.ledger.end(a, outcome, nowMs);
      this.port.cancel(a, nowMs);`,
        `      this.port.cancel(a, nowMs);
      if (a.running) this.ledger.end(a, outcome, nowMs);`,
      ],
    ],
  },
  {
    mistake: "timed-out attempt not cancelled",
    breaks: "losers are cancelled before the call settles",
    edits: [
      [
        "call-machine.ts",
        `this.ledger.end(a, "failed", nowMs);
      this.port.cancel(a, nowMs);`,
        `this.ledger.end(a, "failed", nowMs);`,
      ],
    ],
  },
  {
    mistake: "spurious wake disarms",
    breaks: "the deadline holds for every open call",
    edits: [["call-machine.ts", "if (isOpen(c)) this.wake(c);", ""]],
  },
  {
    mistake: "deadline forgotten after commit",
    breaks: "the deadline holds for every open call",
    edits: [
      [
        "call-machine.ts",
        "const atMs = Math.min(c.nextAtMs, c.deadlineMs);",
        `const atMs = c.state === "committed" ? Number.POSITIVE_INFINITY : Math.min(c.nextAtMs, c.deadlineMs);`,
      ],
    ],
  },
  {
    mistake: "pending call admitted after its deadline",
    breaks: "nothing is sent after the deadline",
    edits: [
      ["call-machine.ts", "if (nowMs >= c.deadlineMs) {", "if (nowMs < 0) {"],
      ["call-machine.ts", " || nowMs >= c.deadlineMs) return false;", ") return false;"],
    ],
  },
  {
    mistake: "pushback ignored by a copy that could not be placed",
    breaks: "pushback is obeyed",
    edits: [
      [
        "call-machine.ts",
        "this.goOn(a.call, a.kind, nowMs);",
        "if (!this.launch(a.call, a.kind, nowMs)) this.goOn(a.call, undefined, nowMs);",
      ],
    ],
  },
  {
    mistake: "pushback does not move the hedge timer",
    breaks: "pushback is obeyed",
    edits: [["call-machine.ts", "if (c.nextAtMs < c.notBeforeMs) c.nextAtMs = c.notBeforeMs;", ""]],
  },
  {
    mistake: "new calls overtake pending ones",
    breaks: "first come, first served",
    edits: [["call-machine.ts", "this.pending.size > 0 || !this.launch", "!this.launch"]],
  },
  {
    mistake: "free place not offered to pending calls",
    breaks: "a free place admits a pending call",
    edits: [
      [
        "call-machine.ts",
        `this.settle(c, "aborted", nowMs);
    this.admit(nowMs);`,
        `this.settle(c, "aborted", nowMs);`,
      ],
    ],
  },
  {
    mistake: "pending queue without a bound",
    breaks: "the pending queue is bounded",
    edits: [["pending-queue.ts", "if (this.size >= this.max) return false;", ""]],
  },
  {
    mistake: "permit kept by a copy that could not be placed",
    breaks: "every permit is a copy",
    edits: [["ledger.ts", "    this.policy.budget.refund();\n", ""]],
  },
  {
    mistake: "writes retried",
    breaks: "a write is never sent twice",
    edits: [["extra.ts", `if (!c.idempotent) return { skip: "not_idempotent" };`, ""]],
  },
  {
    mistake: "writes hedged",
    breaks: "a write is never sent twice",
    edits: [["extra.ts", "if (!c.idempotent || ", "if ("]],
  },
  {
    mistake: "bodies hedged that cannot be replayed",
    breaks: "a body that cannot be replayed is sent once",
    edits: [["extra.ts", "|| !c.replayable ", ""]],
  },
  {
    mistake: "copies below a level that hedges",
    breaks: "no copies below a level that hedges",
    edits: [["extra.ts", " || c.upperLevel)", ")"]],
  },
  {
    mistake: "hedge in the last moment",
    breaks: "no hedge when too little time is left",
    edits: [["call-machine.ts", `if (kind === "hedge" && c.dead`, `if (nowMs < 0 && c.dead`]],
  },
  {
    mistake: "reports of losers heeded",
    breaks: "a call commits once",
    edits: [
      [
        "attempt.ts",
        "(a.call.winner === undefined || a.call.winner === a)",
        "a.call !== undefined",
      ],
      ["call-machine.ts", "if (c.winner === undefined) {", "if (c.winner !== a) {"],
    ],
  },
  {
    mistake: "reports heeded while the call is being ended",
    breaks: "threw: bobtail invariant broken: a call settles once, with nothing running",
    edits: [["attempt.ts", `a.call.state !== "ending"`, "a.call !== undefined"]],
  },
];

test("the machine as it stands breaks no rule, built in the way its mutants are", async () => {
  expect(firstBreach(await build([]))).toBe("none");
});

for (const { mistake, breaks, edits } of MUTANTS) {
  test(`a planted mistake is caught: ${mistake}`, async () => {
    const create = await build(edits);
    const found = new Set<string>();
    for (const breaches of schedules(create)) {
      for (const breach of breaches) found.add(breach);
      if (found.has(breaks)) break;
    }
    expect([...found]).toContain(breaks);
  });
}

function firstBreach(create: MachineFactory): string {
  let run = 0;
  for (const breaches of schedules(create)) {
    if (breaches.length > 0) return breaches.join("; ");
    if (++run === 2_000) break;
  }
  return "none";
}

/** What each of 10,000 seeded schedules breaks. */
function* schedules(create: MachineFactory): Generator<readonly string[]> {
  const rng = seededRng(77);
  for (let run = 0; run < 10_000; run++) {
    const bytes = Array.from({ length: 60 + rng.below(180) }, () => rng.below(256));
    yield runSchedule(bytes, create).breaches;
  }
}

let builds = 0;

/** The machine's own source with the edits applied, loaded as modules of its own. */
async function build(edits: Mutant["edits"]) {
  const texts = new Map(FILES.map((file) => [file, readFileSync(join(here, file), "utf8")]));
  for (const [file, from, to] of edits) {
    const pieces = (texts.get(file) ?? "").split(from);
    expect(pieces.length - 1, `places of "${from}" in ${file}`).toBe(1);
    texts.set(file, pieces.join(to));
  }
  const folder = mkdtempSync(join(scratch, `${builds++}-`));
  for (const [file, text] of texts) {
    const linked = text.replaceAll(/from "(\.[^"]+)"/g, (whole, path: string) =>
      texts.has(path.slice(2) as Source) ? whole : `from "${join(here, path)}"`,
    );
    writeFileSync(join(folder, file), linked);
  }
  const url = pathToFileURL(join(folder, "call-machine.ts")).href;
  const built = (await import(/* @vite-ignore */ url)) as { CallMachine: typeof CallMachine };
  expect(built.CallMachine).not.toBe(CallMachine);
  const create: MachineFactory = (policy, port, observer) =>
    new built.CallMachine(policy, port, observer);
  return create;
}
