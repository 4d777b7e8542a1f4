import { isIP, type LookupFunction } from "node:net";

/** Answers for a name with the addresses that it was found to have before, in place of asking again. Undefined: ask. */
export function pinnedLookup(addresses: readonly string[] | undefined): LookupFunction | undefined {
  const known = addresses?.map((address) => ({ address, family: isIP(address) }));
  const [first] = known ?? [];
  if (known === undefined || first === undefined) return undefined;
  return (_host, options, done) => {
    if (options.all === true) done(null, known);
    else done(null, first.address, first.family);
  };
}
