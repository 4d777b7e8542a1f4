/** Why there is no answer to pass on. The client is told this word beside a status. */
export type FailureReason =
  | "request_target"
  | "bad_request"
  | "ambiguous_length"
  | "host"
  | "unsupported_transfer_encoding"
  | "header_count"
  | "no_route"
  | "not_found"
  | "method"
  | "upgrade_with_body"
  | "connect"
  | "connect_failed"
  | "connection_broke"
  | "body_broke"
  | "bad_reply"
  | "attempt_timeout"
  | "deadline"
  | "busy"
  | "no_endpoint"
  | "closing"
  | "starting";

const REPLIES: Readonly<Record<FailureReason, readonly [status: number, error: string]>> = {
  request_target: [400, "bad_request"],
  bad_request: [400, "bad_request"],
  ambiguous_length: [400, "bad_request"],
  host: [400, "bad_request"],
  unsupported_transfer_encoding: [501, "not_implemented"],
  header_count: [431, "request_header_fields_too_large"],
  no_route: [404, "not_found"],
  not_found: [404, "not_found"],
  method: [405, "method_not_allowed"],
  upgrade_with_body: [501, "not_implemented"],
  connect: [501, "not_implemented"],
  connect_failed: [502, "bad_gateway"],
  connection_broke: [502, "bad_gateway"],
  body_broke: [502, "bad_gateway"],
  bad_reply: [502, "bad_gateway"],
  attempt_timeout: [504, "gateway_timeout"],
  deadline: [504, "gateway_timeout"],
  busy: [503, "service_unavailable"],
  no_endpoint: [503, "service_unavailable"],
  closing: [503, "service_unavailable"],
  starting: [503, "service_unavailable"],
};

export interface FailureContext {
  readonly service?: string | undefined;
  readonly attempts?: number | undefined;
}

/** An answer of our own making. */
export interface OwnReply {
  readonly status: number;
  readonly headers: string[];
  readonly body: Buffer;
}

/** Nothing but the service's name and a count leaves the proxy: no address, no cause's text. */
export function failureReply(reason: FailureReason, context: FailureContext): OwnReply {
  const [status, error] = REPLIES[reason];
  const { service, attempts } = context;
  const body = Buffer.from(`${JSON.stringify({ error, reason, service, attempts })}\n`);
  const headers = [
    "content-type",
    "application/json",
    "content-length",
    String(body.length),
    "cache-control",
    "no-store",
  ];
  if (status === 503) headers.push("retry-after", "1");
  if (status === 405) headers.push("allow", "GET, HEAD");
  return { status, headers, body };
}
