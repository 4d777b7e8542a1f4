const MAX_LINE_BYTES = 4_096;
const MAX_TRAILER_BYTES = 65_536;
const [LF, CR, SEMICOLON, SPACE, TAB] = [10, 13, 59, 32, 9] as const;
/** 2^44 bytes: no sum of these loses precision. */
const MAX_SIZE_DIGITS = 11;

type State =
  | "size"
  | "extension"
  | "size-lf"
  | "data"
  | "data-cr"
  | "data-lf"
  | "trailer"
  | "trailer-lf"
  | "whole";

/** The chunked transfer coding (RFC 9112, 7.1), of which it keeps no bytes. */
export class ChunkedBody {
  private readonly onBody: (bytes: Uint8Array) => void;
  private state: State;
  private leftBytes: number;
  private digits: number;
  private lineBytes: number;
  private trailerBytes: number;

  constructor(onBody: (bytes: Uint8Array) => void) {
    this.onBody = onBody;
    this.state = "size";
    this.leftBytes = 0;
    this.digits = 0;
    this.lineBytes = 0;
    this.trailerBytes = 0;
  }

  get isWhole(): boolean {
    return this.state === "whole";
  }

  reset(): void {
    this.state = "size";
    this.leftBytes = 0;
    this.digits = 0;
    this.lineBytes = 0;
    this.trailerBytes = 0;
  }

  /** @returns how many bytes were the body's, all of them unless it is whole now; or what is wrong with them. */
  read(bytes: Buffer): number | string {
    let at = 0;
    while (at < bytes.length && this.state !== "whole") {
      if (this.state === "data") {
        const until = Math.min(bytes.length, at + this.leftBytes);
        this.leftBytes -= until - at;
        this.onBody(bytes.subarray(at, until));
        at = until;
        if (this.leftBytes === 0) this.state = "data-cr";
        continue;
      }
      const problem = this.frame(bytes[at++] as number);
      if (problem !== undefined) return problem;
    }
    return at;
  }

  /** One byte between the data. */
  private frame(byte: number): string | undefined {
    switch (this.state) {
      case "size":
        return this.size(byte);
      case "extension":
        if (byte === CR) this.state = "size-lf";
        else if (byte === LF || ++this.lineBytes > MAX_LINE_BYTES) return "a malformed chunk";
        return undefined;
      case "size-lf":
        if (byte !== LF) return "a malformed chunk";
        this.state = this.leftBytes === 0 ? "trailer" : "data";
        this.digits = 0;
        this.lineBytes = 0;
        return undefined;
      case "data-cr":
        if (byte !== CR) return "a malformed chunk";
        this.state = "data-lf";
        return undefined;
      case "data-lf":
        if (byte !== LF) return "a malformed chunk";
        this.state = "size";
        return undefined;
      case "trailer":
      case "trailer-lf":
        return this.trailer(byte);
      default:
        return undefined;
    }
  }

  private size(byte: number): string | undefined {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.digits > MAX_SIZE_DIGITS) return "a malformed chunk";
      this.leftBytes = this.leftBytes * 16 + digit;
      return undefined;
    }
    if (this.digits === 0) return "a malformed chunk";
    if (byte === CR) this.state = "size-lf";
    else if (byte === SEMICOLON || byte === SPACE || byte === TAB) this.state = "extension";
    else return "a malformed chunk";
    return undefined;
  }

  /** Lines up to an empty one. */
  private trailer(byte: number): string | undefined {
    if (++this.trailerBytes > MAX_TRAILER_BYTES) return "trailers of over 64 KiB";
    if (this.state === "trailer-lf") {
      if (byte !== LF) return "a malformed trailer";
      this.state = this.lineBytes === 0 ? "whole" : "trailer";
      this.lineBytes = 0;
    } else if (byte === CR) this.state = "trailer-lf";
    else if (byte === LF) return "a malformed trailer";
    else this.lineBytes++;
    return undefined;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
