import { bobtailTargets } from "./bobtail/bobtail-targets.ts";
import { caddyTargets } from "./caddy/caddy-targets.ts";
import { envoyTargets } from "./envoy/envoy-targets.ts";
import { haproxyTargets } from "./haproxy/haproxy-targets.ts";
import { bobtailClientTargets } from "./library/bobtail-client-targets.ts";
import { grpcTargets } from "./library/grpc-targets.ts";
import { undiciTargets } from "./library/undici-targets.ts";
import { nginxTargets } from "./nginx/nginx-targets.ts";
import type { TrialTarget } from "./target.ts";

/** Every target that is ready-made, by family; `--url` is not among them. Names differ. */
export function trialTargets(): readonly TrialTarget[] {
  return [
    ...bobtailTargets(),
    ...nginxTargets(),
    ...haproxyTargets(),
    ...caddyTargets(),
    ...envoyTargets(),
    ...bobtailClientTargets(),
    ...undiciTargets(),
    ...grpcTargets(),
  ];
}
