import type { Fault } from "../../fleet/fault.ts";
import type { ScenarioRun, TrialScenario, TrialSetup } from "./scenario.ts";
import { actAt, backendsOf, planScenario } from "./scenario-plan.ts";

/** Of the measured time: from when to when the backend is sick. The rest shows how it comes back. */
const SICK_FROM = 0.2;
const SICK_TO = 0.6;
const FLAP_TO = 0.8;
const FLAP_FACTOR = 10;
const RESET_RATIO = 0.3;
const COLD_FACTOR = 5;
/** In mean service times: how long it is down, how long it is cold, how long each side of a flapping backend lasts. */
const DOWN_MEANS = 50;
const COLD_MEANS = 100;
const FLAP_MEANS = 50;
const RESENT =
  "One queue before the workers that are well at the moment, hedged at the best fixed delay within 5 % extra.";

const blackHole: TrialScenario = {
  name: "black-hole",
  title: "For a while one backend accepts and never answers",
  question: "How long are requests sent to a backend that takes them and says nothing?",
  health: "Visible: health checks are not answered either, and time out.",
  quick: true,
  build: (setup) =>
    sickForAWhile(
      setup,
      { kind: "silent", after: "accept" },
      `${RESENT} It knows at once; one that has to find out by waiting loses what it sent meanwhile.`,
    ),
};

const headersThenSilence: TrialScenario = {
  name: "headers-then-silence",
  title: "For a while one backend sends headers and half of the body, then nothing",
  question: "Is a backend noticed whose answers begin well and never end?",
  health: "Invisible: the health path answers 200 at once throughout.",
  quick: false,
  build: (setup) =>
    sickForAWhile(
      setup,
      { kind: "silent", after: "headers" },
      `${RESENT} It knows at once; after the first byte nothing can be sent again.`,
    ),
};

const resets: TrialScenario = {
  name: "resets",
  title: "For a while one backend resets three connections in ten",
  question: "Are requests whose connection is reset sent elsewhere, and is the backend avoided?",
  health:
    "Partly visible: health checks meet the same share of resets, so three in a row are rare.",
  quick: false,
  build: (setup) =>
    sickForAWhile(
      setup,
      { kind: "resets", after: "accept", shareRatio: RESET_RATIO },
      `${RESENT} It knows at once.`,
    ),
};

const flapping: TrialScenario = {
  name: "flapping",
  title: "One backend is ten times slower every other second",
  question: "Is a backend that is well again at each second look still kept from the tail?",
  health: "Invisible: the health path answers 200 at once throughout.",
  quick: false,
  build(setup) {
    const sideMs = FLAP_MEANS * setup.meanMs;
    const fault: Fault = {
      kind: "flapping",
      sickMs: sideMs,
      healthyMs: sideMs,
      fault: { kind: "slow", factor: FLAP_FACTOR },
    };
    const flappingMs = setup.durationMs * (FLAP_TO - SICK_FROM);
    const sickMs = sickTimeMs(flappingMs, sideMs);
    return planScenario(setup, {
      backends: backendsOf(setup),
      serving: backendsOf(setup).slice(1),
      sick: [0],
      script: [actAt(setup, SICK_FROM, [0], fault), actAt(setup, FLAP_TO, [0], undefined)],
      ideal: withoutOneFor(setup, sickMs / setup.durationMs),
      idealLaw: { meanMs: setup.meanMs, slowFactor: 1 },
      words: {
        sickShareRatio: fairShare(setup, sickMs),
        how: "stated",
        why: `${RESENT} It foresees each change, so nothing is under way at the backend when it turns slow.`,
      },
    });
  },
};

const restart: TrialScenario = {
  name: "restart",
  title: "One backend restarts: connections reset, port closed, then back on it and cold",
  question: "Do users notice that a backend restarts?",
  health: "Visible while it is down: connections are refused. Invisible while it is cold.",
  quick: false,
  build(setup) {
    const downMs = DOWN_MEANS * setup.meanMs;
    const coldMs = COLD_MEANS * setup.meanMs;
    const then: Fault = { kind: "slow", factor: COLD_FACTOR, fades: { overMs: coldMs } };
    return planScenario(setup, {
      backends: backendsOf(setup),
      serving: backendsOf(setup).slice(1),
      sick: [0],
      script: [actAt(setup, SICK_FROM, [0], { kind: "restart", downMs, then })],
      ideal: withoutOneFor(setup, (downMs + coldMs) / setup.durationMs),
      idealLaw: { meanMs: setup.meanMs, slowFactor: 1 },
      words: {
        sickShareRatio: fairShare(setup, downMs + coldMs),
        how: "stated",
        why: `${RESENT} What the restart cuts off is sent again; those few requests are left out of the times. The cold backend is used once it is warm.`,
      },
    });
  },
};

const coldJoin: TrialScenario = {
  name: "cold-join",
  title: "A new backend joins, cold",
  question: "Is a new backend flooded before it is warm?",
  health: "Visible until it joins: connections are refused. Invisible while it is cold.",
  quick: false,
  build(setup) {
    const coldMs = COLD_MEANS * setup.meanMs;
    const cold: Fault = { kind: "slow", factor: 2 * COLD_FACTOR, fades: { overMs: coldMs } };
    const awayMs = SICK_FROM * setup.durationMs + coldMs;
    return planScenario(setup, {
      backends: backendsOf(setup).map((backend, i) =>
        i === 0 ? { ...backend, fault: { kind: "gone" } } : backend,
      ),
      serving: backendsOf(setup).slice(1),
      sick: [0],
      script: [actAt(setup, SICK_FROM, [0], cold)],
      ideal: withoutOneFor(setup, awayMs / setup.durationMs),
      idealLaw: { meanMs: setup.meanMs, slowFactor: 1 },
      words: {
        sickShareRatio: fairShare(setup, awayMs),
        how: "stated",
        why: `${RESENT} The new one is used once it is warm; what it could do before is left out.`,
      },
    });
  },
};

const halfGone: TrialScenario = {
  name: "half-gone",
  title: "Half of the fleet dies at one moment, and comes back",
  question: "Do users notice that half of the fleet is gone, when the other half is enough?",
  health: "Visible: connections are refused.",
  quick: false,
  build(setup) {
    const half = Math.floor(setup.backends / 2);
    const dying = Array.from({ length: half }, (_, i) => i);
    const goneRatio = SICK_TO - SICK_FROM;
    return planScenario(setup, {
      backends: backendsOf(setup),
      serving: backendsOf(setup).slice(half),
      sick: dying,
      script: [
        actAt(setup, SICK_FROM, dying, { kind: "gone" }),
        actAt(setup, SICK_TO, dying, undefined),
      ],
      ideal: [
        { timeRatio: 1 - goneRatio, backends: setup.backends },
        { timeRatio: goneRatio, backends: setup.backends - half },
      ],
      idealLaw: { meanMs: setup.meanMs, slowFactor: 1 },
      words: {
        sickShareRatio: ((1 - goneRatio) * half) / setup.backends,
        how: "stated",
        why: `${RESENT} What is cut off when they die is sent again; those few requests are left out of the times.`,
      },
    });
  },
};

/** Backend 0 has the fault for a part of the measured time. */
function sickForAWhile(setup: TrialSetup, fault: Fault, why: string): ScenarioRun {
  const sickMs = (SICK_TO - SICK_FROM) * setup.durationMs;
  return planScenario(setup, {
    backends: backendsOf(setup),
    serving: backendsOf(setup).slice(1),
    sick: [0],
    script: [actAt(setup, SICK_FROM, [0], fault), actAt(setup, SICK_TO, [0], undefined)],
    ideal: withoutOneFor(setup, sickMs / setup.durationMs),
    idealLaw: { meanMs: setup.meanMs, slowFactor: 1 },
    words: { sickShareRatio: fairShare(setup, sickMs), how: "stated", why },
  });
}

/** All backends, but one less for a part of the time. */
function withoutOneFor({ backends }: TrialSetup, timeRatio: number) {
  const awayRatio = Math.min(1, timeRatio);
  return [
    { timeRatio: 1 - awayRatio, backends },
    { timeRatio: awayRatio, backends: backends - 1 },
  ];
}

/** One backend's share of the requests where it gets its part except for a while. */
function fairShare({ durationMs, backends }: TrialSetup, awayMs: number): number {
  return Math.max(0, 1 - awayMs / durationMs) / backends;
}

/** How much of the first `lengthMs` a fault is on that is on and off for `sideMs` each, on first. */
function sickTimeMs(lengthMs: number, sideMs: number): number {
  const periods = Math.floor(lengthMs / (2 * sideMs));
  return periods * sideMs + Math.min(sideMs, lengthMs - periods * 2 * sideMs);
}

/** Sick in the process or its connections, for a part of the time. */
export const hardScenarios: readonly TrialScenario[] = [
  blackHole,
  headersThenSilence,
  flapping,
  restart,
  coldJoin,
  halfGone,
  resets,
];
