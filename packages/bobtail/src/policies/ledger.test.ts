import { describe, expect, test } from "vitest";
import { CallRig } from "./call-rig.testbed.ts";

const ANSWERED = { latencyMs: 5, censored: false };
const WAITED_IN_VAIN = { latencyMs: 5, censored: true };

describe("whether latencies of primaries are recorded", () => {
  /** One primary that is answered, one that is given up. */
  function recorded(maxHedges: number, maxRetries: number): unknown[] {
    const rig = new CallRig({ maxHedges, maxRetries });
    rig.start();
    const givenUp = rig.start();
    rig.runTo(5);
    rig.reply(1);
    rig.machine.aborted(givenUp, rig.nowMs);
    expect(rig.held()).toEqual([]);
    return rig.policy.hedger.recorded;
  }

  test("a service that neither hedges nor retries records none, since nothing will ask for them", () => {
    expect(recorded(0, 0)).toEqual([]);
  });

  test.each([
    ["hedges alone", 1, 0],
    ["retries alone", 0, 1],
    ["hedges and retries", 1, 1],
  ])("with %s, each primary is recorded", (_, maxHedges, maxRetries) => {
    expect(recorded(maxHedges, maxRetries)).toEqual([ANSWERED, WAITED_IN_VAIN]);
  });
});
