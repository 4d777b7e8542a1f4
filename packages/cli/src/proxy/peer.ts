import { BlockList, isIPv6 } from "node:net";
import { checkOption } from "bobtail/engine";

/** One connection of a client: who it is, whether it is believed, and what runs for it. */
export class Peer {
  readonly address: string;
  readonly isTrusted: boolean;
  /** As `Forwarded` writes it: an IPv6 address stands in brackets and quotes. */
  readonly forwardedFor: string;
  /** Told when the connection closes, and when it can take more. */
  readonly running: Set<{ gone(): void; drained(): void }>;
  /** No request is read from the connection any more: it ends after the answers that are due. */
  isLeaving: boolean;
  /** Stops watching for the client's end, before somebody else reads from the connection. */
  unwatch: (() => void) | undefined;
  private host: string;
  private node: string;

  constructor(address: string, isTrusted: boolean) {
    this.address = address;
    this.isTrusted = isTrusted;
    this.forwardedFor = address.includes(":") ? `"[${address}]"` : address;
    this.running = new Set();
    this.isLeaving = false;
    this.unwatch = undefined;
    this.host = "";
    this.node = "";
  }

  /** One `Forwarded` element. A connection hardly ever changes the host it asks for, so the last one is kept. */
  forwardedNode(host: string, proto: string): string {
    if (host === this.host && this.node !== "") return this.node;
    const quotable = host.replace(/["\\]/g, "");
    this.host = host;
    this.node = `for=${this.forwardedFor};host="${quotable}";proto=${proto}`;
    return this.node;
  }
}

const LOOPBACK: readonly string[] = ["127.0.0.0/8", "::1/128"];

export type TrustRule = (address: string) => boolean;

/** Throws `ERR_BOBTAIL_OPTION` for a range that is none. */
export function createTrustRule(ranges: readonly string[] = LOOPBACK): TrustRule {
  const list = new BlockList();
  for (const range of ranges) addRange(list, range);
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

function addRange(list: BlockList, range: string): void {
  const slash = range.indexOf("/");
  const address = slash < 0 ? range : range.slice(0, slash);
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const width = family === "ipv6" ? 128 : 32;
  const prefix = slash < 0 ? width : Number(range.slice(slash + 1));
  let ok = Number.isInteger(prefix) && prefix >= 0 && prefix <= width && !range.endsWith("/");
  try {
    if (ok) list.addSubnet(address, prefix, family);
  } catch {
    ok = false;
  }
  checkOption({ trust: range }, "an address or a CIDR range such as 10.0.0.0/8", ok);
}

/** An IPv4 client of a socket that listens on both families is written as IPv4. */
export function plainAddress(address: string | undefined): string {
  if (address === undefined) return "unknown";
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}
