// The whole workload of the balancing article: our simulator beside a Python program that does the same, start-up included.
// Elapsed time is what a user waits for, with one thread and with two, as `bobtail sim` has them; CPU is what it costs.
//   node bench/balancing-article.mjs      (needs python3 and two cores)
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { best, compare, table } from "./harness.mjs";

const cpu = {};

/** Elapsed seconds of a whole process, from its start to its end. Its CPU seconds go to `cpu`. */
function elapsedSeconds(name, command, file, ...args) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return () => {
    const { status, stderr } = spawnSync(
      "bash",
      ["-c", `time "${command}" "${path}" ${args.join(" ")} > /dev/null`],
      { encoding: "utf8", env: { ...process.env, TIMEFORMAT: "%R %U %S" } },
    );
    if (status !== 0) throw new Error(stderr);
    const [real, user, system] = stderr.trim().split("\n").at(-1).split(" ").map(Number);
    cpu[name] = Math.min(cpu[name] ?? Number.POSITIVE_INFINITY, user + system);
    return real;
  };
}

const RUN = "balancing-article-run.mjs";
const contestants = Object.fromEntries(
  [
    ["python3 balancing_article.py", "python3", "balancing_article.py"],
    ["the simulator, through call.ts", process.execPath, RUN, 1],
    ["the same on two threads", process.execPath, RUN, 2],
  ].map(([name, ...rest]) => [name, elapsedSeconds(name, ...rest)]),
);
const elapsed = await compare(contestants, { rounds: 5, summary: best });
const title = "1.8 M requests in six policies and 6.2 M leaf calls, the best of five runs";
table(`${title}: elapsed (Node ${process.versions.node})`, elapsed, { unit: "s" });
table("The same: CPU of all threads", cpu, { unit: "s" });
