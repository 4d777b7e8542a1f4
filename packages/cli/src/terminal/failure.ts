import type { Palette } from "./palette.ts";
import { printable } from "./printable.ts";

/** Exit codes of the command; scripts rely on them. */
export const EXIT = {
  ok: 0,
  internal: 1,
  /** Wrong options, or a policy file with mistakes. */
  usage: 2,
  /** A threshold or a trial was not met. */
  failed: 3,
  /** Worse than what it was compared with. */
  regression: 4,
  /** What was measured does not stand: the generator was the bottleneck, or the sample is too small. */
  notValid: 5,
  interrupted: 130,
  terminated: 143,
} as const;

/** Something the user can mend: printed with its remedy and without a stack. */
export class CommandFailure extends Error {
  readonly remedy: string;
  readonly exitCode: number;

  constructor(message: string, remedy = "", exitCode: number = EXIT.usage) {
    super(message);
    this.name = "CommandFailure";
    this.remedy = remedy;
    this.exitCode = exitCode;
  }
}

/** A failure as the terminal shows it. Anything but a {@link CommandFailure} is a defect of ours and keeps its stack. */
export function formatFailure(error: unknown, palette: Palette): string {
  const label = `bobtail: ${palette.red("error")}:`;
  if (error instanceof CommandFailure) {
    const [message, remedy] = [error.message, error.remedy].map(printableLines);
    return remedy === "" ? `${label} ${message}` : `${label} ${message}\n  ${remedy}`;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `bobtail: ${palette.red("internal error")}, please report it:\n${detail}`;
}

/** Messages quote files, names and addresses that others may have written. */
function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** A mistake that the user can mend becomes a failure with its remedy; the rest stays what it was. */
export function explainStartError(error: unknown): unknown {
  if (error instanceof Error && "code" in error && error.code === "ERR_BOBTAIL_OPTION") {
    return new CommandFailure(error.message);
  }
  return explainBindError(error) ?? error;
}

function explainBindError(error: unknown): CommandFailure | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const host = "address" in error ? String(error.address) : "";
  const port = "port" in error ? String(error.port) : "";
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  switch (error.code) {
    case "EADDRINUSE":
      return new CommandFailure(
        `${address} is taken by another program`,
        `Stop it (\`ss -ltnp 'sport = :${port}'\` or \`lsof -i :${port}\` names it), or listen on another port.`,
      );
    case "EACCES":
      return new CommandFailure(
        `this user may not listen on ${address}`,
        "Choose a port above 1023, or grant the capability to bind low ports.",
      );
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
      return new CommandFailure(
        `${address} is not an address of this machine`,
        `Listen on 127.0.0.1:${port}, or on :${port} for every interface.`,
      );
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new CommandFailure(
        `the host name ${"hostname" in error ? String(error.hostname) : host} cannot be resolved`,
        "Check its spelling, or write an IP address.",
      );
    default:
      return undefined;
  }
}
