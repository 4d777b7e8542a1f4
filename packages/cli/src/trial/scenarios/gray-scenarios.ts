import { isSlowKey } from "../../fleet/request-shape.ts";
import type { StallLaw } from "../../fleet/service-law.ts";
import type { TrialScenario, TrialSetup } from "./scenario.ts";
import { actAt, backendsOf, planScenario } from "./scenario-plan.ts";

const SLOW_FACTOR = 5;
const FAIL_RATIO = 0.5;
const STALL_RATIO = 0.01;
const ALL_SLOW_FACTOR = 3;
const KEYS = 50;
const SLOW_KEY_FACTOR = 10;
/** Of all keys in the world; the scenario asks for one of them. */
const SLOW_KEY_RATIO = 0.02;
const LARGE_RATIO = 0.03;
const LARGE_FACTOR = 5;
const LARGE_BYTES = 262_144;
const UNSEEN = "Invisible: the health path answers 200 at once throughout.";

const healthy: TrialScenario = {
  name: "healthy",
  title: "Nothing is wrong",
  question: "What does the balancer cost while nothing is wrong?",
  health: "Nothing to see.",
  quick: true,
  build: (setup) =>
    planScenario(setup, {
      backends: backendsOf(setup),
      sick: [],
      ideal: [{ timeRatio: 1, backends: setup.backends }],
      idealLaw: healthyLaw(setup),
      words: {
        sickShareRatio: 0,
        how: "simulated",
        why: "One queue before all workers, hedged at the best fixed delay within 5 % extra.",
      },
    }),
};

const slow: TrialScenario = {
  name: "slow",
  title: "One backend is five times slower and returns no errors",
  question: "Does the balancer route round a backend that is slow but healthy by every check?",
  health: UNSEEN,
  quick: true,
  build: (setup) => slowRun(setup, 1),
};

const twoSlow: TrialScenario = {
  name: "two-slow",
  title: "Two backends are five times slower",
  question: "Does it still see what is slow when two backends are, and no longer one among many?",
  health: UNSEEN,
  quick: false,
  build: (setup) => slowRun(setup, 2),
};

function slowRun(setup: TrialSetup, count: number) {
  return planScenario(setup, {
    backends: backendsOf(setup, (i) => ({ slowFactor: i < count ? SLOW_FACTOR : 1 })),
    sick: Array.from({ length: count }, (_, i) => i),
    ideal: [{ timeRatio: 1, backends: setup.backends - count }],
    idealLaw: healthyLaw(setup),
    words: {
      sickShareRatio: 0,
      how: "simulated",
      why: "One queue before the healthy workers, hedged at the best fixed delay within 5 % extra. The slow ones are left out: waiting for a healthy worker is nearly always shorter than being served by a slow one.",
    },
  });
}

const failFast: TrialScenario = {
  name: "fail-fast",
  title: "One backend fails half of its requests within a millisecond",
  question: "Is a backend that fails fast taken for one that is fast?",
  health: UNSEEN,
  quick: true,
  build: (setup) =>
    planScenario(setup, {
      backends: backendsOf(setup).map((backend, i) =>
        i === 0 ? { ...backend, fault: { kind: "fail-fast", shareRatio: FAIL_RATIO } } : backend,
      ),
      serving: backendsOf(setup).slice(1),
      sick: [0],
      ideal: [{ timeRatio: 1, backends: setup.backends - 1 }],
      idealLaw: healthyLaw(setup),
      words: {
        sickShareRatio: 0,
        how: "simulated",
        why: "One queue before the healthy workers, hedged at the best fixed delay within 5 % extra; the one that fails gets nothing.",
      },
    }),
};

const stalls: TrialScenario = {
  name: "stalls",
  title: "One request in a hundred stalls, on every backend",
  question: "Does anything shorten the tail when no backend is worse than another?",
  health: UNSEEN,
  quick: true,
  build(setup) {
    const stall: StallLaw = {
      shareRatio: STALL_RATIO,
      minMs: 5 * setup.meanMs,
      maxMs: 15 * setup.meanMs,
    };
    return planScenario(setup, {
      backends: backendsOf(setup, () => ({ stall })),
      sick: [],
      ideal: [{ timeRatio: 1, backends: setup.backends }],
      idealLaw: { ...healthyLaw(setup), stall },
      words: {
        sickShareRatio: 0,
        how: "simulated",
        why: "One queue before all workers. No choice of a backend helps; a second copy at the best fixed delay within 5 % extra does.",
      },
    });
  },
};

const slowKey: TrialScenario = {
  name: "slow-key",
  title: "One key in fifty is ten times slower, wherever it is asked for",
  question: "Are backends blamed, or retried, for what the request itself is to blame for?",
  health: UNSEEN,
  quick: false,
  build(setup) {
    const keys = chosenKeys();
    return planScenario(setup, {
      backends: backendsOf(setup),
      sick: [],
      shapes: { slowKeys: { shareRatio: SLOW_KEY_RATIO, factor: SLOW_KEY_FACTOR } },
      paths: keys.map((key) => ({ path: `/?key=${key}`, weight: 1 })),
      kinds: [{ shareRatio: 1 / KEYS, factor: SLOW_KEY_FACTOR }],
      ideal: [{ timeRatio: 1, backends: setup.backends }],
      idealLaw: healthyLaw(setup),
      words: {
        sickShareRatio: 0,
        how: "simulated",
        why: "One queue before all workers, hedged at the best fixed delay within 5 % extra, which does not know one key from another; a second copy of a slow key is as slow by chance as the first.",
      },
    });
  },
};

const allSlow: TrialScenario = {
  name: "all-slow",
  title: "The whole fleet becomes three times slower",
  question:
    "Does the balancer make it worse when every backend is slow and nothing can be routed round?",
  health: UNSEEN,
  quick: true,
  build(setup) {
    const all = Array.from({ length: setup.backends }, (_, i) => i);
    const idealLaw = { meanMs: setup.meanMs, slowFactor: ALL_SLOW_FACTOR };
    return planScenario(setup, {
      backends: backendsOf(setup),
      serving: backendsOf(setup, () => idealLaw),
      sick: [],
      script: [actAt(setup, 0, all, { kind: "slow", factor: ALL_SLOW_FACTOR })],
      ideal: [{ timeRatio: 1, backends: setup.backends }],
      idealLaw,
      words: {
        sickShareRatio: 0,
        how: "simulated",
        why: "One queue before all workers, all of them slow from the first measured moment, hedged at the best fixed delay for the slow fleet within 5 % extra.",
      },
    });
  },
};

const mixedSizes: TrialScenario = {
  name: "mixed-sizes",
  title: "Three requests in a hundred are large and take five times longer",
  question: "Do small requests wait behind large ones?",
  health: UNSEEN,
  quick: false,
  build: (setup) =>
    planScenario(setup, {
      backends: backendsOf(setup),
      sick: [],
      shapes: { large: { path: "/large", bodyBytes: LARGE_BYTES, factor: LARGE_FACTOR } },
      paths: [
        { path: "/", weight: 1 - LARGE_RATIO },
        { path: "/large", weight: LARGE_RATIO },
      ],
      kinds: [{ shareRatio: LARGE_RATIO, factor: LARGE_FACTOR }],
      ideal: [{ timeRatio: 1, backends: setup.backends }],
      idealLaw: healthyLaw(setup),
      words: {
        sickShareRatio: 0,
        how: "simulated",
        why: "One queue before all workers, hedged at the best fixed delay within 5 % extra. Moving the bytes of a large answer takes no time.",
      },
    }),
};

/** The first slow key and the first others of `k0`, `k1`, … */
function chosenKeys(): readonly string[] {
  const slowKeys: string[] = [];
  const others: string[] = [];
  for (let i = 0; slowKeys.length < 1 || others.length < KEYS - 1; i++) {
    const key = `k${i}`;
    if (isSlowKey(key, SLOW_KEY_RATIO)) slowKeys.push(key);
    else others.push(key);
  }
  return [...slowKeys.slice(0, 1), ...others.slice(0, KEYS - 1)];
}

function healthyLaw({ meanMs }: TrialSetup) {
  return { meanMs, slowFactor: 1 };
}

/** Sick in the work: processes and connections are well. */
export const grayScenarios: readonly TrialScenario[] = [
  healthy,
  slow,
  twoSlow,
  failFast,
  stalls,
  slowKey,
  allSlow,
  mixedSizes,
];
