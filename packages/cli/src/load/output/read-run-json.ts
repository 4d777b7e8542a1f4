import { Histogram } from "bobtail/engine";
import { CommandFailure } from "../../terminal/failure.ts";
import type { LoadInterval, LoadSection, SelfCheck } from "../load-report.ts";
import { emptySection } from "../load-report.ts";
import { HISTOGRAM_NAMES } from "../section-codec.ts";
import { intervalDisagreement, misplacedInterval, sectionDisagreement } from "./accounts.ts";
import { type JsonField, parseJsonFile } from "./json-field.ts";
import { LOAD_SCHEMA } from "./run-json.ts";
import type { LoadResult, Probe, RunRecord } from "./run-record.ts";
import { type RunSetup, setupHash, type TargetSetup } from "./run-setup.ts";
import { snakeKey } from "./snake-case.ts";

/**
 * What `bobtail load --out FILE.json` wrote. Nothing is believed: counts must add up and agree with the histograms, and the
 * setup with its digest. Throws a `CommandFailure` with place, reason and remedy.
 */
export function parseResult(file: string, text: string): LoadResult {
  if (/^\s*\{\s*"schema":\s*"bobtail\.compare\//.test(text))
    throw new CommandFailure(
      `${file}: this is a comparison, and not a run`,
      "It is shown by the .html of the same comparison (--out FILE.html).",
    );
  const top = parseJsonFile(file, text);
  top.at("schema").oneOf(LOAD_SCHEMA);
  const kind = top.at("kind").oneOf("run", "sweep", "limit");
  switch (kind) {
    case "run":
      return { kind, run: readRun(top) };
    case "sweep": {
      const stopped = top.at("stopped");
      const runs = top.at("runs").items().map(readRun);
      return { kind, runs, stopped: stopped.isNull ? undefined : stopped.text() };
    }
    case "limit": {
      const rate = top.at("rate_per_sec");
      return {
        kind,
        objective: top.at("objective").text(),
        ratePerSec: rate.isNull ? undefined : rate.number(),
        because: top.at("because").text(),
        probes: top.at("probes").items().map(readProbe),
      };
    }
  }
}

function readProbe(field: JsonField): Probe {
  return {
    ratePerSec: field.at("rate_per_sec").number(),
    phase: field.at("phase").oneOf("grow", "shrink", "bisect", "confirm"),
    outcome: field.at("outcome").oneOf("held", "failed", "undecided", "generator-limited"),
    measured: field.at("measured").text(),
    run: readRun(field.at("run")),
  };
}

function readRun(field: JsonField): RunRecord {
  const run = readRunHead(field);
  const measured = readSection(field.at("measured"));
  const intervals = readIntervals(field, run.runMs, readWholeInterval);
  const wrong = intervalDisagreement(measured, intervals);
  if (wrong !== undefined) throw field.at(wrong.of).fail(wrong.reason);
  return { ...run, warmup: readSection(field.at("warmup")), measured, intervals };
}

/** Thousands of histograms would fill the memory: each is decoded when it is asked for, and here once, to see that it can be. */
function readWholeInterval(field: JsonField): LoadInterval {
  const head = readInterval(field);
  const stored = field.at("all_us");
  decode(stored);
  return {
    ...head,
    get all(): Histogram {
      return decode(stored);
    },
  };
}

/** All of a run that is no histogram: the sections are without them. */
export function readRunHead(field: JsonField): Omit<RunRecord, "intervals"> {
  const version = field.at("version").text();
  const setup = readSetup(field.at("setup"));
  if (field.at("setup_sha256").text() !== setupHash(setup, version))
    throw field.at("setup_sha256").fail("it is not the digest of the setup");
  const measured = readCounts(field.at("measured"));
  if (measured.ledger.planned !== setup.plannedCount)
    throw field
      .at("measured")
      .at("ledger")
      .at("planned")
      .fail(`the setup has ${setup.plannedCount} planned, the ledger ${measured.ledger.planned}`);
  return {
    version,
    setup,
    startedAt: field.at("started_at").moment(),
    partial: field.at("partial").flag(),
    wallMs: field.at("wall_ms").number(),
    warmupMs: field.at("warmup_ms").number(),
    runMs: field.at("run_ms").number(),
    drainMs: field.at("drain_ms").number(),
    check: readCheck(field.at("check")),
    verdicts: field.at("verdicts").items().map(readVerdict),
    warmup: readCounts(field.at("warmup")),
    measured,
  };
}

function readVerdict(field: JsonField): RunRecord["verdicts"][number] {
  return {
    condition: field.at("condition").text(),
    verdict: field.at("verdict").oneOf("held", "failed", "undecided"),
    measured: field.at("measured").text(),
  };
}

function readSetup(field: JsonField): RunSetup {
  return {
    targets: field.at("targets").items().map(readTarget),
    profile: field
      .at("profile")
      .items()
      .map((segment) => ({
        fromPerSec: segment.at("from_per_sec").number(),
        toPerSec: segment.at("to_per_sec").number(),
        durationMs: segment.at("duration_ms").number(),
      })),
    traceSha256: field.at("trace_sha256").text(),
    plannedCount: field.at("planned_count").count(),
    durationMs: field.at("duration_ms").number(),
    warmupMs: field.at("warmup_ms").number(),
    warmupReason: field.at("warmup_reason").text(),
    arrivals: field.at("arrivals").oneOf("poisson", "uniform"),
    seed: field.at("seed").number(Number.MIN_SAFE_INTEGER),
    timeoutMs: field.at("timeout_ms").number(),
    maxInFlight: field.at("max_in_flight").count(),
    connections: field.at("connections").count(),
    protocol: field.at("protocol").oneOf("http1", "http2"),
    sse: field.at("sse").flag(),
    workers: field.at("workers").count(),
    pacing: field.at("pacing").oneOf("thread", "timer"),
  };
}

function readTarget(field: JsonField): TargetSetup {
  return {
    method: field.at("method").text(),
    origin: field.at("origin").text(),
    path: field.at("path").text(),
    headers: field
      .at("headers")
      .items()
      .map((header) => ({
        name: header.at("name").text(),
        valueSha256: header.at("value_sha256").text(),
      })),
    bodyBytes: field.at("body_bytes").count(),
    bodySha256: field.at("body_sha256").text(),
    weight: field.at("weight").number(),
  };
}

function readCheck(field: JsonField): SelfCheck {
  const texts = (key: string): string[] =>
    field
      .at(key)
      .items()
      .map((item) => item.text());
  const maybe = (key: string): number | undefined =>
    field.at(key).isNull ? undefined : field.at(key).number();
  return {
    verdict: field.at("verdict").oneOf("ok", "generator-limited"),
    reasons: texts("reasons"),
    notes: texts("notes"),
    sendLagP99Ms: maybe("send_lag_p99_ms") ?? Number.NaN,
    loopDelayP99Ms: maybe("loop_delay_p99_ms") ?? Number.NaN,
    cpuCores: field.at("cpu_cores").number(),
    gcPauseMs: field.at("gc_pause_ms").number(),
    descriptorLimit: maybe("descriptor_limit"),
    pacingFloorMs: maybe("pacing_floor_ms"),
  };
}

function readCounts(field: JsonField): LoadSection {
  const section = emptySection(0);
  const { ledger } = section;
  const counts = field.at("ledger");
  ledger.planned = counts.at("planned").count();
  ledger.sent = counts.at("sent").count();
  ledger.dropped = counts.at("dropped").count();
  ledger.unsent = counts.at("unsent").count();
  ledger.ok = counts.at("ok").count();
  ledger.httpErrors = counts.at("http_errors").count();
  ledger.transportErrors = counts.at("transport_errors").count();
  ledger.timeouts = counts.at("timeouts").count();
  ledger.openAtEnd = counts.at("open_at_end").count();
  const { planned, sent, dropped, unsent, ok, openAtEnd } = ledger;
  if (planned !== sent + dropped + unsent)
    throw counts.fail(
      `${planned} planned are not ${sent} sent + ${dropped} dropped + ${unsent} unsent`,
    );
  const ended = ok + ledger.httpErrors + ledger.transportErrors + ledger.timeouts + openAtEnd;
  if (sent !== ended) throw counts.fail(`${sent} sent, but ${ended} accounted for`);
  for (const [status, count] of field.at("statuses").entries()) {
    if (!/^\d{1,3}$/.test(status)) throw count.fail("this is no status");
    section.statuses.set(Number(status), count.count());
  }
  for (const [kind, count] of field.at("failures").entries())
    section.failures.set(kind, count.count());
  return section;
}

function readSection(field: JsonField): LoadSection {
  const section = readCounts(field);
  const stored = field.at("histograms_us");
  for (const clock of HISTOGRAM_NAMES) section[clock].add(decode(stored.at(snakeKey(clock))));
  const wrong = sectionDisagreement(section);
  if (wrong === undefined) return section;
  const { of, reason } = wrong;
  throw (of === "statuses" || of === "failures" ? field : stored).at(snakeKey(of)).fail(reason);
}

/** Of a run; each follows the one before it, and the last ends with what was measured. */
export function readIntervals<T extends Omit<LoadInterval, "all">>(
  run: JsonField,
  runMs: number,
  read: (field: JsonField) => T,
): readonly T[] {
  const fields = run.at("intervals").items();
  const intervals = fields.map(read);
  if (fields.length === 0 && runMs > 0)
    throw run.at("intervals").fail(`there is none, and ${runMs} ms were measured`);
  const misplaced = misplacedInterval(intervals, runMs);
  if (misplaced !== undefined)
    throw fields[misplaced.index]?.at(snakeKey(misplaced.of)).fail(misplaced.reason);
  return intervals;
}

/** Without its histogram. */
export function readInterval(field: JsonField): Omit<LoadInterval, "all"> {
  return {
    startMs: field.at("start_ms").number(),
    lengthMs: field.at("length_ms").number(),
    sent: field.at("sent").count(),
    dropped: field.at("dropped").count(),
    infinite: field.at("infinite").count(),
  };
}

function decode(field: JsonField): Histogram {
  const text = field.text();
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw field.fail("this is not base64");
  const plain = new Histogram();
  try {
    // Adding checks that the shape is ours.
    plain.add(Histogram.decode(Buffer.from(text, "base64")));
  } catch (error) {
    throw field.fail(`the histogram is damaged: ${error instanceof Error ? error.message : error}`);
  }
  return plain;
}
