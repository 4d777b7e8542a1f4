/** What became of one check. */
export interface Verdict {
  /** Place in the list of checks. */
  readonly index: number;
  readonly got: number;
  readonly holds: boolean;
  readonly wallMs: number;
}

interface LaneTask {
  readonly indices: readonly number[];
  readonly quick: boolean;
  /** For each, as soon as it is known. */
  readonly onVerdict: (verdict: Verdict) => void;
}

/** Something that takes checks one group at a time: a worker thread. */
export interface Lane {
  run(task: LaneTask): Promise<void>;
  close(): Promise<void>;
}

export interface RunOptions {
  /** Places in the list of checks; the checks of a group share their runs. In order of their start. */
  readonly groups: readonly (readonly number[])[];
  readonly lanes: readonly Lane[];
  readonly quick: boolean;
  readonly onVerdict?: ((verdict: Verdict) => void) | undefined;
}

/** Each group on the first lane that is free. Rejects with the first error, when no lane works any more. */
export async function runChecks(options: RunOptions): Promise<Verdict[]> {
  const { groups, lanes, quick } = options;
  const verdicts: Verdict[] = [];
  const onVerdict = (verdict: Verdict): void => {
    verdicts.push(verdict);
    options.onVerdict?.(verdict);
  };
  let next = 0;
  const work = async (lane: Lane): Promise<void> => {
    for (let group = groups[next++]; group !== undefined; group = groups[next++]) {
      await lane.run({ indices: group, quick, onVerdict });
    }
  };
  const ends = await Promise.allSettled(
    lanes.map((lane) =>
      work(lane).catch((error: unknown) => {
        // The others end after what they are at.
        next = groups.length;
        throw error;
      }),
    ),
  );
  await Promise.all(lanes.map((lane) => lane.close()));
  const broken = ends.find((end) => end.status === "rejected");
  if (broken !== undefined) throw broken.reason;
  return verdicts.sort((a, b) => a.index - b.index);
}
