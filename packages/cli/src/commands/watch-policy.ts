import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { MAX_SOURCE_BYTES } from "../policy-file/read-source.ts";

/** Contents are compared this often. Watching for events misses files that are swapped by a symbolic link. */
const POLL_MS = 1_000;
/** A file still being written differs from itself a moment later. */
const SETTLE_MS = 200;

/** A hash of each file's content, by its name. */
export type ContentHashes = ReadonlyMap<string, string>;

export interface PolicyWatch {
  /** What counts as the policy from now on. */
  follow(files: readonly string[]): void;
  stop(): void;
}

/**
 * Calls `changed` when the content of a file is another and has come to rest; never twice at one time.
 * `known` are the hashes from before the policy was read: a change since then is noticed too.
 */
export function watchPolicy(
  files: readonly string[],
  known: ContentHashes,
  changed: () => Promise<void>,
): PolicyWatch {
  let followed = files;
  let seen = known;
  let stopped = false;
  let timer = setTimeout(tick, POLL_MS);

  function tick(): void {
    void look()
      .catch(() => undefined)
      .finally(() => {
        if (!stopped) timer = setTimeout(tick, POLL_MS);
      });
  }

  async function look(): Promise<void> {
    const now = await contentHashes(followed);
    const differs = [...now].some(([file, hash]) => (seen.get(file) ?? hash) !== hash);
    if (!differs) {
      seen = now;
      return;
    }
    await new Promise((done) => setTimeout(done, SETTLE_MS));
    const later = await contentHashes(followed);
    const atRest = [...later].every(([file, hash]) => now.get(file) === hash);
    if (!atRest || stopped) return;
    seen = later;
    await changed();
  }

  return {
    follow(next) {
      followed = next;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** A file that cannot be read has a hash of its own, so that its return is a change. */
export async function contentHashes(files: readonly string[]): Promise<ContentHashes> {
  const hashes = new Map<string, string>();
  for (const file of files) hashes.set(file, await contentHash(file));
  return hashes;
}

async function contentHash(file: string): Promise<string> {
  try {
    const kind = await stat(file);
    if (!kind.isFile()) return "not a file";
    if (kind.size > MAX_SOURCE_BYTES) return `too large: ${kind.size}`;
    return createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "unreadable";
  }
}
