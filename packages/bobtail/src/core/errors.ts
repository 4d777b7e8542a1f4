/** Every failure Bobtail can raise, and what each one carries. Adding an error starts here. */
export interface BobtailErrorDetails {
  /** An option is outside its range. Thrown at construction; for an option of one call, before anything is sent. */
  ERR_BOBTAIL_OPTION: {
    readonly option: string;
    readonly expected: string;
    readonly received: unknown;
  };
  /** The service has no endpoint, or none that this call may use. */
  ERR_BOBTAIL_NO_ENDPOINT: { readonly knownCount: number };
  /** Every attempt failed. `causes` holds one entry an attempt, the primary's first. */
  ERR_BOBTAIL_ALL_FAILED: { readonly causes: readonly unknown[] };
  /** The call's deadline passed. `attempts` counts the copies that were sent. */
  ERR_BOBTAIL_DEADLINE: { readonly elapsedMs: number; readonly attempts: number };
  /** One attempt outlived `timeout.attemptMs`; a cause inside `ERR_BOBTAIL_ALL_FAILED`. */
  ERR_BOBTAIL_ATTEMPT_TIMEOUT: { readonly endpoint: string; readonly timeoutMs: number };
  /** A limit was reached before anything was sent. */
  ERR_BOBTAIL_SHED: { readonly limit: "outstanding" | "pending"; readonly max: number };
  /** The reason on the signal of an attempt whose call was won by another. The caller never sees it. */
  ERR_BOBTAIL_SUPERSEDED: { readonly endpoint: string };
  /** A reply's body stopped for longer than `timeout.bodyIdleMs`, or passed the deadline. */
  ERR_BOBTAIL_BODY_STALLED: { readonly endpoint: string; readonly idleMs: number };
  /** A redirect or request pointed outside the service's endpoints. */
  ERR_BOBTAIL_FOREIGN_ORIGIN: { readonly origin: string };
  /** The client was closed. */
  ERR_BOBTAIL_CLOSED: { readonly what: string };
}

export type BobtailErrorCode = keyof BobtailErrorDetails;

/** The one error class. Recognise it by `code`, with {@link isBobtailError}. */
export class BobtailError<C extends BobtailErrorCode = BobtailErrorCode> extends Error {
  readonly code: C;
  readonly details: BobtailErrorDetails[C];

  constructor(code: C, message: string, details: BobtailErrorDetails[C], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "BobtailError";
    this.code = code;
    this.details = details;
  }
}

/** By code, not `instanceof`: two copies of the package in one process still recognise each other. */
export function isBobtailError<C extends BobtailErrorCode>(
  error: unknown,
  code: C,
): error is BobtailError<C> {
  return error instanceof Error && "code" in error && error.code === code;
}

/**
 * Refuse an option that is out of range: `checkOption({ extraRatio }, "a ratio in [0, 2]", ok)`.
 * Throws `ERR_BOBTAIL_OPTION` with the option's name, its range and the value received.
 */
export function checkOption(
  option: Readonly<Record<string, unknown>>,
  expected: string,
  ok: boolean,
): void {
  if (ok) return;
  const [name, received] = Object.entries(option)[0] ?? ["option", undefined];
  throw new BobtailError(
    "ERR_BOBTAIL_OPTION",
    `${name}: expected ${expected}, received ${show(received)}`,
    {
      option: name,
      expected,
      received,
    },
  );
}

function show(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "function") return "a function";
  const text = asJson(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** `undefined` for what JSON has no word for; a value that holds itself is told by its kind. */
function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
