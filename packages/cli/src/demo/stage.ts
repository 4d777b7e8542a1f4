import type { ServiceOptions } from "bobtail";
import type { Fleet } from "../fleet/fleet.ts";
import type { RunningProxy, ServiceReport } from "../proxy/config.ts";
import { startProxy } from "../proxy/start-proxy.ts";
import type { DemoPlan } from "./demo-options.ts";

/** One way to spread the requests: what it is called, and the policy of the proxy that does it. */
export interface Contender {
  /** As in the report's `phases[].name`. */
  readonly name: "round-robin" | "bobtail";
  readonly label: string;
  readonly options: ServiceOptions;
}

/** Round robin holds hundreds of waiting requests at the slow backend; Bobtail's default limit would cut them short and flatter it. */
const NO_LIMIT: ServiceOptions["limit"] = { outstanding: 16_384, perEndpoint: 8_192 };

export function contenders(plan: DemoPlan): { baseline: Contender; bobtail: Contender } {
  const hedging: ServiceOptions = {
    hedge: { afterMs: "auto" },
    budget: { extraRatio: 0.05 },
  };
  return {
    baseline: {
      name: "round-robin",
      label: "Round robin",
      options: {
        balance: { policy: "round-robin", errorPenalty: false },
        retry: { max: 0 },
        limit: NO_LIMIT,
      },
    },
    bobtail: {
      name: "bobtail",
      label: "Bobtail",
      options: plan.hedge ? hedging : {},
    },
  };
}

/** The proxy that one contender drives, before the fleet. */
export interface Stage {
  readonly url: string;
  counts(): ServiceReport;
  close(): Promise<void>;
}

export async function openStage(contender: Contender, fleet: Fleet): Promise<Stage> {
  const proxy: RunningProxy = await startProxy({
    listeners: [{ host: "127.0.0.1", port: 0, service: "fleet" }],
    services: {
      fleet: { endpoints: fleet.urls.map((url) => ({ url })), options: contender.options },
    },
  });
  const address = proxy.addresses[0];
  return {
    url: `http://${address?.host}:${address?.port}/`,
    counts() {
      const report = proxy.stats().services.fleet;
      if (report === undefined) throw new Error("the proxy does not report on its service");
      return report;
    },
    close: () => proxy.close(),
  };
}
