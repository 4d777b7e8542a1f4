import { seededRng } from "../core/rng.ts";
import { Job } from "../policies/queue.ts";
import { FAIL, FINISH, GIVE_UP } from "./event-codes.ts";
import { EventQueue } from "./event-queue.ts";
import { Fleet } from "./fleet.ts";
import { SimServer } from "./server.ts";

export interface Piece {
  readonly id: string;
  readonly priority: number;
  readonly sizeMs: number;
  /** How often it is sent again, at once, when it has waited too long. */
  readonly resends: number;
}

/** How and when a piece of work left its server. */
export interface Leave {
  readonly atMs: number;
  readonly how: string;
}

export interface PlainServer {
  readonly workers: number;
  readonly maxQueued: number;
  readonly priorities: number;
  readonly queueTimeoutMs: number;
  readonly failAfterMs: number;
}

export interface Bench {
  readonly leaves: ReadonlyMap<string, Leave>;
  /** Everything that happens up to that moment. */
  runTo(atMs: number): void;
  send(piece: Piece): void;
  cancel(id: string, alsoRunning: boolean): void;
  crash(): void;
  restart(): void;
  /** 0 pauses. */
  setSpeed(speed: number): void;
}

function again(piece: Piece): Piece {
  return { ...piece, id: `${piece.id}'`, resends: piece.resends - 1 };
}

/** Each piece leaves once. */
function noteLeave(leaves: Map<string, Leave>, id: string, leave: Leave): void {
  const before = leaves.get(id);
  if (before !== undefined) throw new Error(`${id}: ${before.how}, and then ${leave.how}`);
  leaves.set(id, leave);
}

/** A real server of a fleet, driven as the world drives it. */
export class FleetBench implements Bench {
  readonly leaves: Map<string, Leave>;
  readonly server: SimServer;
  readonly events: EventQueue;
  private readonly fleet: Fleet;
  private readonly jobs: Map<string, Job>;
  private nowMs: number;

  constructor(options: PlainServer) {
    this.leaves = new Map();
    this.server = new SimServer(0, options, true);
    this.events = new EventQueue();
    this.jobs = new Map();
    this.nowMs = 0;
    const listener = {
      answered: (job: Job, nowMs: number) => this.left(job, "answered", nowMs),
      lost: (job: Job, cause: string, nowMs: number) => this.left(job, cause, nowMs),
    };
    const chance = { rng: seededRng(1), copySize: undefined };
    this.fleet = new Fleet([this.server], this.events, listener, chance);
  }

  runTo(atMs: number): void {
    while (this.events.pop(atMs)) {
      const { timeMs, code, subject } = this.events;
      this.nowMs = timeMs;
      if (code === FINISH) this.fleet.finish(subject as Job, timeMs);
      else if (code === GIVE_UP) this.fleet.giveUp(subject as SimServer, timeMs);
      else if (code === FAIL) this.fleet.fail(subject as Job, timeMs);
    }
    if (atMs < Number.POSITIVE_INFINITY) this.nowMs = atMs;
  }

  send(piece: Piece): void {
    const { id, priority, sizeMs } = piece;
    // As much of an attempt as a server looks at.
    const job = new Job({ piece, endpoint: { host: this.server }, call: { host: { sizeMs } } });
    job.priority = priority;
    this.jobs.set(id, job);
    this.fleet.deliver(job, this.nowMs);
  }

  cancel(id: string, alsoRunning: boolean): void {
    const job = this.jobs.get(id) as Job;
    const stays = this.leaves.has(id) || (job.state === "running" && !alsoRunning);
    this.fleet.cancel(job, alsoRunning, this.nowMs);
    if (!stays) noteLeave(this.leaves, id, { atMs: this.nowMs, how: "cancelled" });
  }

  crash(): void {
    this.fleet.crash(this.server, this.nowMs);
  }

  restart(): void {
    this.server.down = false;
  }

  setSpeed(speed: number): void {
    this.fleet.setSpeed(this.server, speed, this.nowMs);
  }

  private left(job: Job, how: string, atMs: number): void {
    const { piece } = job.host as { piece: Piece };
    noteLeave(this.leaves, piece.id, { atMs, how });
    if (how === "queued too long" && piece.resends > 0) this.send(again(piece));
  }
}

interface Waiting extends Piece {
  readonly leaveMs: number;
}

interface Serving {
  readonly id: string;
  /** When it ends; while the server stands still, how much of it is left. */
  endMs: number;
}

/** The same by the simplest means: every piece has a moment at which it gives up, and each step looks at all of them. */
export class ModelBench implements Bench {
  readonly leaves: Map<string, Leave>;
  private readonly options: PlainServer;
  private nowMs: number;
  private speed: number;
  private down: boolean;
  private waiting: Waiting[];
  private serving: Serving[];
  private failing: { readonly id: string; readonly atMs: number }[];

  constructor(options: PlainServer) {
    this.leaves = new Map();
    this.options = options;
    this.nowMs = 0;
    this.speed = 1;
    this.down = false;
    this.waiting = [];
    this.serving = [];
    this.failing = [];
  }

  runTo(atMs: number): void {
    for (;;) {
      const ends = this.speed > 0 ? this.serving.map((s) => s.endMs) : [];
      const next = Math.min(
        ...ends,
        ...this.waiting.map((w) => w.leaveMs),
        ...this.failing.map((f) => f.atMs),
      );
      if (next > atMs || next === Number.POSITIVE_INFINITY) break;
      this.nowMs = next;
      this.step();
    }
    if (atMs < Number.POSITIVE_INFINITY) this.nowMs = atMs;
  }

  send(piece: Piece): void {
    if (this.down) {
      this.failing.push({ id: piece.id, atMs: this.nowMs + this.options.failAfterMs });
      return;
    }
    const idle =
      this.speed > 0 && this.serving.length < this.options.workers && this.waiting.length === 0;
    if (idle) this.serve(piece);
    else if (this.waiting.length >= this.options.maxQueued) this.leave(piece.id, "queue full");
    else this.waiting.push({ ...piece, leaveMs: this.nowMs + this.options.queueTimeoutMs });
  }

  cancel(id: string, alsoRunning: boolean): void {
    const held = [...this.waiting, ...this.failing, ...(alsoRunning ? this.serving : [])];
    if (!held.some((piece) => piece.id === id)) return;
    this.drop(id);
    this.leave(id, "cancelled");
    this.fill();
  }

  crash(): void {
    this.down = true;
    const lost = [...this.waiting, ...this.serving];
    this.waiting = [];
    this.serving = [];
    for (const { id } of lost) this.leave(id, "crashed");
  }

  restart(): void {
    this.down = false;
  }

  setSpeed(speed: number): void {
    if (speed === this.speed) return;
    for (const s of this.serving) {
      const leftMs = this.speed > 0 ? (s.endMs - this.nowMs) * this.speed : s.endMs;
      s.endMs = speed > 0 ? this.nowMs + leftMs / speed : leftMs;
    }
    this.speed = speed;
    this.fill();
  }

  private step(): void {
    const answered = this.serving.find((s) => this.speed > 0 && s.endMs === this.nowMs);
    const tired = this.waiting.find((w) => w.leaveMs === this.nowMs);
    const failed = this.failing.find((f) => f.atMs === this.nowMs);
    const { id } = (answered ?? tired ?? failed) as { id: string };
    this.drop(id);
    if (answered !== undefined) this.leave(id, "answered");
    else if (tired !== undefined) {
      this.leave(id, "queued too long");
      if (tired.resends > 0) this.send(again(tired));
    } else this.leave(id, this.down ? "down" : "failed fast");
    this.fill();
  }

  private fill(): void {
    while (
      this.speed > 0 &&
      this.serving.length < this.options.workers &&
      this.waiting.length > 0
    ) {
      const level = (w: Waiting) => Math.min(w.priority, this.options.priorities - 1);
      // A stable sort: within a class whoever came first.
      const next = [...this.waiting].sort((a, b) => level(a) - level(b))[0] as Waiting;
      this.waiting.splice(this.waiting.indexOf(next), 1);
      this.serve(next);
    }
  }

  private serve({ id, sizeMs }: Piece): void {
    this.serving.push({ id, endMs: this.nowMs + sizeMs / this.speed });
  }

  private drop(id: string): void {
    this.waiting = this.waiting.filter((piece) => piece.id !== id);
    this.serving = this.serving.filter((piece) => piece.id !== id);
    this.failing = this.failing.filter((piece) => piece.id !== id);
  }

  private leave(id: string, how: string): void {
    noteLeave(this.leaves, id, { atMs: this.nowMs, how });
  }
}
