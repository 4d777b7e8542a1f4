import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { CommandFailure } from "../../terminal/failure.ts";

/** Host names, and the addresses that were looked at and that the run then keeps to. */
export type PinnedAddresses = Readonly<Record<string, readonly string[]>>;

export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Addresses that nobody else can be behind: loopback, RFC 1918, unique local (RFC 4193). Not 100.64.0.0/10: a provider's
 * network has other customers in it.
 */
const PRIVATE = new BlockList();
PRIVATE.addSubnet("127.0.0.0", 8, "ipv4");
PRIVATE.addSubnet("10.0.0.0", 8, "ipv4");
PRIVATE.addSubnet("172.16.0.0", 12, "ipv4");
PRIVATE.addSubnet("192.168.0.0", 16, "ipv4");
PRIVATE.addAddress("::1", "ipv6");
// "This host", which a connection takes for loopback.
PRIVATE.addAddress("0.0.0.0", "ipv4");
PRIVATE.addAddress("::", "ipv6");
PRIVATE.addSubnet("fc00::", 7, "ipv6");

/**
 * Where clouds answer for the machine itself, with its credentials: link-local (RFC 3927, RFC 4291), and the unique local
 * addresses that Amazon, Google and Oracle chose.
 */
const METADATA = new BlockList();
METADATA.addSubnet("169.254.0.0", 16, "ipv4");
METADATA.addSubnet("fe80::", 10, "ipv6");
METADATA.addAddress("fd00:ec2::254", "ipv6");
METADATA.addAddress("fd20:ce::254", "ipv6");
METADATA.addAddress("fd00:c1::a9fe:a9fe", "ipv6");

/** IPv4 in IPv6 clothes (`::ffff:8.8.8.8`) is judged as the IPv4 that it is: `BlockList` sees to that. */
export function isPrivateAddress(address: string): boolean {
  return isIn(PRIVATE, address) && !isIn(METADATA, address);
}

function isIn(list: BlockList, address: string): boolean {
  const [bare = ""] = address.split("%");
  const family = isIP(bare);
  return family !== 0 && list.check(bare, family === 4 ? "ipv4" : "ipv6");
}

/**
 * Resolves every target once and refuses those that are not the user's own network, unless the user owns them.
 * The run then connects to these addresses alone, so a name cannot come to mean another host after the check.
 *
 * Throws a {@link CommandFailure} that names the target.
 */
export async function pinTargets(
  urls: readonly string[],
  isOwn: boolean,
  resolve: Resolve = resolveAll,
): Promise<PinnedAddresses> {
  // Without a prototype: a host may be called "constructor".
  const pinned: Record<string, readonly string[]> = Object.create(null);
  for (const url of urls) {
    const host = hostOf(url);
    if (pinned[host] !== undefined) continue;
    const addresses = isIP(host) === 0 ? await resolveHost(host, resolve) : [host];
    const foreign = addresses.find((address) => !isPrivateAddress(address));
    if (foreign !== undefined && !isOwn) throw refused(host, foreign);
    pinned[host] = addresses;
  }
  return pinned;
}

/** Without the brackets of an IPv6 address. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

function refused(host: string, address: string): CommandFailure {
  const shown = host === address ? host : `${host} is ${address}, which`;
  if (isIn(METADATA, address))
    return new CommandFailure(
      `${shown} is link-local or the metadata service of a cloud: it may be no server of yours`,
      "Write another address of your server; if it has none, say so with --i-own-this.",
    );
  return new CommandFailure(
    `${shown} is outside loopback and the private ranges, and load on a server that is not yours is an attack`,
    "If it is yours, or its owner agreed, say so with --i-own-this.",
  );
}

async function resolveHost(host: string, resolve: Resolve): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolve(host);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw new CommandFailure(
      `the host name ${host} cannot be resolved${code}`,
      "Check its spelling, or write an IP address.",
    );
  }
  if (addresses.length === 0)
    throw new CommandFailure(`the host name ${host} has no address`, "Write an IP address.");
  return addresses;
}

async function resolveAll(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
