import { readFileSync } from "node:fs";
import { CommandFailure } from "../terminal/failure.ts";
import { checkWritable, type OutputFlags, putOut } from "./output.ts";
import { mergeShards, parseShardFile } from "./shard-file.ts";
import { planJob, taskCount } from "./sim-plan.ts";
import { reportOf, type SimReport } from "./sim-report.ts";

/** Reads, checks and merges shards, then prints their result. */
export async function merge(
  files: readonly string[],
  flags: OutputFlags,
  version: string,
): Promise<void> {
  checkWritable("--html", flags.html);
  const texts = files.map((file) => ({ file, text: readShard(file) }));
  await putOut(await mergedReport(texts, version), flags);
}

/** Throws a {@link CommandFailure} for shards that do not belong together, are damaged or are not all there. */
export async function mergedReport(
  texts: readonly { readonly file: string; readonly text: string }[],
  version: string,
): Promise<SimReport> {
  const shards = texts.map(({ file, text }) => ({ file, shard: parseShardFile(text, file) }));
  const { job, results } = mergeShards(shards, version);
  const plan = await planJob(job);
  const damaged = (): CommandFailure =>
    new CommandFailure(
      "the shards' results are damaged",
      "Run the shards again, or find the file that was cut or changed.",
    );
  if (results.size !== taskCount(plan)) throw damaged();
  try {
    return reportOf(plan, results, { version, sets: job.sets });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BOBTAIL_OPTION")
      throw damaged();
    throw error;
  }
}

function readShard(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const reason = code === "ENOENT" ? "no such file" : `it cannot be read (${code})`;
    throw new CommandFailure(`${file}: ${reason}`, "Give the files that the shards wrote.");
  }
}
