import { type Delay, readDelay } from "./delay.ts";
import { readEndpointUrl } from "./endpoint-url.ts";
import type { Path, Report } from "./report.ts";
import type { Tree } from "./tree.ts";
import { type Reading, readDurationMs, readRatio } from "./units.ts";

const DEFAULT_DEADLINE_MS = 30_000;
const MAX_SCANNED_ENDPOINTS = 64;

/** Mistakes between the fields of one service. */
export function crossCheckService(service: Tree, path: Path, report: Report): void {
  const endpoints = checkEndpoints(service, path, report);
  checkHedge(service, path, report, endpoints);
  checkBudget(service, path, report);
  checkTls(service, path, report, endpoints);
}

interface Endpoints {
  readonly count: number;
  readonly virtual: boolean;
  readonly https: boolean;
}

function checkEndpoints(service: Tree, path: Path, report: Report): Endpoints {
  const list = service.children.get("endpoints");
  const items = [...(list?.children.values() ?? [])];
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const holder = item.children.get("url") ?? item;
    const url = readEndpointUrl(holder.value);
    if (!url.ok) continue;
    if (seen.has(url.value)) {
      report(holder, {
        path: [...path, "endpoints", index],
        reason: `the endpoint ${url.value} is listed twice`,
        remedy: "Remove one; to send it more, give it a weight.",
      });
    }
    seen.add(url.value);
  }
  const policy = service.children.get("balance")?.children.get("policy");
  if (policy?.value === "least" && items.length > MAX_SCANNED_ENDPOINTS) {
    report(policy, {
      path: [...path, "balance", "policy"],
      reason: `least scans every endpoint: at most ${MAX_SCANNED_ENDPOINTS}, here are ${items.length}`,
      remedy: "Write two-choices.",
    });
  }
  return {
    count: items.length,
    virtual: items.some((item) => item.children.get("virtual")?.value === true),
    https: [...seen].some((url) => url.startsWith("https:")),
  };
}

/** The parts of a hedge, whichever of its forms it is written in. */
interface WrittenHedge {
  readonly at: Tree;
  readonly delay: Delay | undefined;
  readonly delayAt: Tree;
  readonly floors: readonly Tree[];
  readonly ceilings: readonly Tree[];
  readonly max: Tree | undefined;
}

function readHedge(at: Tree): WrittenHedge {
  const after = at.children.get("after");
  const nested = after?.children.get("after");
  const delayAt = nested ?? after ?? at;
  const parts = (key: string): Tree[] =>
    [after?.children.get(key), at.children.get(key)].filter((part) => part !== undefined);
  return {
    at,
    delay: valueIn(readDelay(delayAt.value)),
    delayAt,
    floors: parts("floor"),
    ceilings: parts("ceiling"),
    max: at.children.get("max"),
  };
}

function checkHedge(service: Tree, path: Path, report: Report, endpoints: Endpoints): void {
  const at = service.children.get("hedge");
  if (at === undefined) return;
  const hedge = readHedge(at);
  checkDelay(service, [...path, "hedge"], report, hedge);
  checkHedgeBudget(service, path, report, hedge);

  const max = hedge.max === undefined ? 1 : hedge.max.value;
  const others = endpoints.count - 1;
  if (typeof max === "number" && others >= 0 && max > others && !endpoints.virtual) {
    report(hedge.max ?? at, {
      path: [...path, "hedge"],
      reason: `${max} hedge${max === 1 ? "" : "s"} a call, but only ${others} other endpoint${others === 1 ? "" : "s"} to send ${max === 1 ? "it" : "them"} to`,
      remedy:
        others === 0
          ? "Add an endpoint; or mark this one `virtual: true` if it stands for several servers."
          : `Write max: ${others}, or add endpoints.`,
    });
  }
}

function checkDelay(service: Tree, path: Path, report: Report, hedge: WrittenHedge): void {
  const written = service.children.get("deadline");
  const deadlineMs =
    written === undefined ? DEFAULT_DEADLINE_MS : valueIn(readDurationMs(written.value));
  const [floor, secondFloor] = hedge.floors;
  const [ceiling, secondCeiling] = hedge.ceilings;
  for (const twice of [secondFloor, secondCeiling]) {
    if (twice === undefined) continue;
    const remedy = "Keep the one beside `after: p97`.";
    report(twice, { path, reason: "the same bound is given twice", remedy });
  }
  const fixedMs = typeof hedge.delay === "number" ? hedge.delay : undefined;
  const floorMs = floor === undefined ? undefined : valueIn(readDurationMs(floor.value));
  const ceilingMs = ceiling === undefined ? undefined : valueIn(readDurationMs(ceiling.value));

  const leastMs = fixedMs ?? floorMs;
  if (leastMs !== undefined && deadlineMs !== undefined && leastMs >= deadlineMs) {
    const what = fixedMs === undefined ? "floor" : "delay";
    report(fixedMs === undefined ? (floor ?? hedge.at) : hedge.delayAt, {
      path,
      reason: `a hedge ${what} of ${leastMs} ms is not below the deadline of ${deadlineMs} ms: no hedge would ever be sent`,
      remedy: "Hedge earlier, or allow a longer deadline.",
    });
  }
  const bound = floor ?? ceiling;
  if (fixedMs !== undefined && bound !== undefined) {
    const remedy = "Remove it, or write after: auto or after: p97.";
    report(bound, { path, reason: "floor and ceiling bound adaptive delays only", remedy });
  } else if (ceiling !== undefined && ceilingMs !== undefined && ceilingMs < (floorMs ?? 1)) {
    report(ceiling, {
      path,
      reason: `a ceiling of ${ceilingMs} ms is below the floor of ${floorMs ?? 1} ms`,
      remedy: "Raise the ceiling or lower the floor.",
    });
  }
}

function checkHedgeBudget(service: Tree, path: Path, report: Report, hedge: WrittenHedge): void {
  const budget = service.children.get("budget");
  const remedy = "Add `budget: { extra: 5% }`.";
  if (budget === undefined) {
    report(hedge.at, { path: [...path, "hedge"], reason: "a hedge without a budget", remedy });
    return;
  }
  const extra = budget.children.get("extra");
  if (extra === undefined || valueIn(readRatio(extra.value)) !== 0) return;
  const perSecond = budget.children.get("minPerSecond")?.value;
  if (hedge.delay !== "auto" && typeof perSecond === "number" && perSecond > 0) return;
  report(extra, {
    path: [...path, "budget", "extra"],
    reason: "a hedge without a budget: extra is 0",
    remedy: "Write extra: 5%, or remove the hedge.",
  });
}

function checkBudget(service: Tree, path: Path, report: Report): void {
  const max = service.children.get("budget")?.children.get("maxPerSecond");
  const min = service.children.get("budget")?.children.get("minPerSecond");
  if (max === undefined || min === undefined) return;
  if (typeof max.value !== "number" || typeof min.value !== "number") return;
  if (max.value <= 0 || max.value >= min.value) return;
  report(max, {
    path: [...path, "budget", "maxPerSecond"],
    reason: `the ceiling of ${max.value} a second is below the floor of ${min.value}`,
    remedy: "Raise maxPerSecond or lower minPerSecond.",
  });
}

function checkTls(service: Tree, path: Path, report: Report, endpoints: Endpoints): void {
  const tls = service.children.get("tls");
  if (tls === undefined) return;
  if (!endpoints.https && endpoints.count > 0) {
    report(tls, {
      path: [...path, "tls"],
      reason: "tls has no effect: no endpoint's address begins with https",
      remedy: "Write https:// in the endpoints, or remove tls.",
    });
  }
  const cert = tls.children.get("cert");
  const key = tls.children.get("key");
  const alone = cert === undefined ? key : key === undefined ? cert : undefined;
  if (alone === undefined) return;
  report(alone, {
    path: [...path, "tls"],
    reason: "a client certificate needs both cert and key",
    remedy: `Add ${cert === undefined ? "cert" : "key"}.`,
  });
}

function valueIn<T>(reading: Reading<T>): T | undefined {
  return reading.ok ? reading.value : undefined;
}
