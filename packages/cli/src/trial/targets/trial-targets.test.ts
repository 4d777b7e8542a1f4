import { expect, test } from "vitest";
import { trialTargets } from "./trial-targets.ts";

const backends = ["http://127.0.0.1:9001", "http://127.0.0.1:9002", "http://127.0.0.1:9003"];
const place = { port: 8765, directory: "/tmp/trial/nginx", healthPath: "/healthz" };
const targets = trialTargets();

test("no two targets have the same name", () => {
  const names = targets.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test("every family has one default, and at most one that is its best", () => {
  for (const family of new Set(targets.map((target) => target.family))) {
    const roles = targets.filter((target) => target.family === family).map(({ role }) => role);
    expect(roles.filter((role) => role === "default")).toHaveLength(1);
    expect(roles.filter((role) => role === "best").length).toBeLessThanOrEqual(1);
  }
});

test.each(targets.map((target) => [target.name, target] as const))(
  "%s says what its figures depend on, in sentences",
  (_, { notes }) => {
    expect(notes.length).toBeGreaterThan(0);
    for (const note of notes) expect(note).toMatch(/^[A-Z0-9].*\.$/s);
  },
);

test.each(targets.map((target) => [target.name, target] as const))(
  "%s is configured with its port, every backend once, and no path outside its folder",
  (_, target) => {
    const text = target.config(backends, place);
    expect(text).toContain("8765");
    for (const port of ["9001", "9002", "9003"]) expect(text.split(port)).toHaveLength(2);
    const paths = text.match(/(?<=[\s"])\/(?!healthz)[\w./@-]{2,}/g) ?? [];
    const outside = paths.filter(
      (path) => !path.startsWith(place.directory) && !path.includes("node_modules"),
    );
    expect(outside).toEqual([]);
  },
);

test("configurations of one program differ only where its targets do", () => {
  const configOf = (name: string): string =>
    targets.find((target) => target.name === name)?.config(backends, place) ?? "";
  const roundRobin = configOf("nginx/round-robin").split("\n");
  const leastConn = configOf("nginx/least-conn").split("\n");
  expect(leastConn.filter((line) => !roundRobin.includes(line))).toEqual(["    least_conn;"]);
  const hedge = configOf("envoy/least-request+hedge").split("\n");
  const budget = configOf("envoy/least-request+hedge-budget").split("\n");
  expect(hedge.filter((line) => !budget.includes(line))).toEqual(["        max_retries: 8192"]);
});
