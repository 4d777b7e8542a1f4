// The whole workload of the balancing article: our simulator beside a Python program that does the same, start-up included.
//   node bench/balancing-article.mjs      (needs python3)
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { compare, table } from "./harness.mjs";

/** CPU seconds of a whole process, from its start to its end. */
function cpuSeconds(command, file) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return () => {
    const { status, stderr } = spawnSync(
      "bash",
      ["-c", `time "${command}" "${path}" > /dev/null`],
      {
        encoding: "utf8",
        env: { ...process.env, TIMEFORMAT: "%U %S" },
      },
    );
    if (status !== 0) throw new Error(stderr);
    const [user, system] = stderr.trim().split("\n").at(-1).split(" ").map(Number);
    return user + system;
  };
}

const costs = await compare(
  {
    "python3 balancing_article.py": cpuSeconds("python3", "balancing_article.py"),
    "the simulator, through call.ts": cpuSeconds(process.execPath, "balancing-article-run.mjs"),
  },
  { rounds: 3 },
);
table(
  "1.8 M requests in six policies and 6.2 M leaf calls (CPU seconds, start-up included)",
  costs,
  { unit: "s" },
);
