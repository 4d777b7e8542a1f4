import type { LoadPlan } from "../load-plan.ts";
import type { Transport, TransportSetup } from "./exchange.ts";
import { createHttp1Transport } from "./http1-transport.ts";
import { createHttp2Transport } from "./http2-transport.ts";

export function createTransport(protocol: LoadPlan["protocol"], setup: TransportSetup): Transport {
  return protocol === "http2" ? createHttp2Transport(setup) : createHttp1Transport(setup);
}
