import type { Inbound } from "./engine.ts";
import type { FailureReason } from "./failure-reply.ts";
import type { RequestHead } from "./request-head.ts";
import { isOwnPath } from "./request-target.ts";

/** Why a request is not passed on, whatever service it asks for; `undefined`: it may be. */
export function faultOf(
  inbound: Inbound,
  head: RequestHead,
  isUpgrade: boolean,
): FailureReason | undefined {
  if (head.fault !== undefined) return head.fault;
  // Nothing of ours is passed on, and nothing there is answered yet.
  if (isOwnPath(head.path)) return "not_found";
  // Chunks are unknown to HTTP/1.0: who forwarded this may have taken the body for a second request.
  if (inbound.isHttp10 && head.bodyLength < 0) return "ambiguous_length";
  return isUpgrade && head.bodyLength !== 0 ? "upgrade_with_body" : undefined;
}
