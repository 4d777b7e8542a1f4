import { createSecureContext, type SecureContextOptions } from "node:tls";
import { checkOption } from "../../core/errors.ts";
import { checkKeys } from "../client/option-keys.ts";

/** How TLS is spoken to endpoints that are given by address. */
export interface TlsOptions {
  /** The name that the certificate must bear; default: the host in the endpoint's URL. */
  readonly servername?: string | undefined;
  /** Authorities to trust, PEM; default: the well-known ones. */
  readonly ca?: string | Buffer | readonly (string | Buffer)[] | undefined;
  /** Our own certificate and key, PEM, for servers that ask for one. */
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** Refuse a server whose certificate does not check out; default true. */
  readonly rejectUnauthorized?: boolean | undefined;
}

const KEYS: Readonly<Record<keyof TlsOptions, true>> = {
  servername: true,
  ca: true,
  cert: true,
  key: true,
  rejectUnauthorized: true,
};

/** What cannot be used would fail every connection. Throws `ERR_BOBTAIL_OPTION`; a message never shows a key. */
export function checkTlsOptions(tls: TlsOptions | undefined): void {
  if (tls === undefined) return;
  checkOption({ tls: typeof tls }, "an object of options", typeof tls === "object" && tls !== null);
  checkKeys(tls, KEYS, "tls.");
  const { ca, cert, key } = tls;
  try {
    createSecureContext({ ca, cert, key } as SecureContextOptions);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    checkOption({ tls: why }, "PEM texts, with the key of its certificate", false);
  }
}
