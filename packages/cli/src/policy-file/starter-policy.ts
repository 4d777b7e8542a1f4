const EXAMPLE_ENDPOINTS = [
  "http://127.0.0.1:9001",
  "http://127.0.0.1:9002",
  "http://127.0.0.1:9003",
];

/** A commented policy file that is valid as it stands. Without endpoints it gets three examples. */
export function starterPolicy(endpoints: readonly string[]): string {
  const urls = endpoints.length > 0 ? endpoints : EXAMPLE_ENDPOINTS;
  const list = urls.map((url) => `      - ${url}`).join("\n");
  // A hedge needs a second endpoint: with one, the line is there to be uncommented.
  const off = urls.length > 1 ? "" : "# ";
  const why = urls.length > 1 ? "" : " (needs a second endpoint, or `virtual: true`)";
  return `# yaml-language-server: $schema=bobtail.schema.json
# Policy of Bobtail. Completion in editors: bobtail schema > bobtail.schema.json
# Check it: bobtail check FILE. Run it: bobtail proxy --config FILE. It is read again when it changes.

listen: { address: 127.0.0.1:8080, service: main }

# Health, metrics, statistics; never serve this address to the public.
admin: { address: 127.0.0.1:9901 }

services:
  main:
    # Interchangeable servers. { url: ..., weight: 2 } gets twice the traffic;
    # { url: ..., virtual: true } is one address that stands for several servers.
    endpoints:
${list}

    # Two endpoints are drawn, the one with the lower latency and fewer requests under way is used.
    balance: { policy: two-choices, load: peak-ewma }

    # A second copy for calls that are safe to repeat (GET, HEAD) and slower than most; the first answer wins${why}.
    ${off}hedge: { after: auto, max: 1 }

    # Hedges and retries together may add this much load.
    budget: { extra: 5%, burst: 10 }

    # One more try elsewhere when nothing was sent, the connection broke, or the server said so.
    retry: { max: 1, on: [connect-failure, reset, 502, 503, 504] }

    # A call may take this long in all.
    deadline: 5s
    timeout: { connect: 1s, bodyIdle: 10s, keepAlive: 60s }

    limit: { outstanding: 1024, perEndpoint: 128, pending: 256, replayBody: 64KiB }
`;
}
