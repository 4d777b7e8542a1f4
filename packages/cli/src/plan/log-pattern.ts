import { CommandFailure } from "../terminal/failure.ts";

/** A log format as a pattern, and the names of what its groups hold. */
export interface LogPattern {
  readonly regex: RegExp;
  readonly names: readonly string[];
}

const NGINX_VARIABLE = /\$(?:\{([a-z_]\w*)\}|([a-z_]\w*))/gi;
const ENVOY_OPERATOR = /%([A-Z_]+(?:\([^)]*\))?(?::\d+)?)%/g;
const MAX_VARIABLES = 100;

/** The pattern of an nginx `log_format` (`$request_time`) or an Envoy format string (`%DURATION%`). */
export function compileLogFormat(format: string): LogPattern {
  const names: string[] = [];
  const operator =
    format.includes("%") && ENVOY_OPERATOR.test(format) ? ENVOY_OPERATOR : NGINX_VARIABLE;
  operator.lastIndex = 0;
  let pattern = "^";
  let from = 0;
  for (const found of format.matchAll(operator)) {
    const literal = format.slice(from, found.index);
    from = found.index + found[0].length;
    // Lazy up to the next literal: a variable holds anything but a line end.
    pattern += `${quote(literal)}(.*?)`;
    names.push(found[1] ?? found[2] ?? "");
  }
  const rest = format.slice(from).trimEnd();
  pattern += rest === "" ? "\\s*$" : `${quote(rest)}`;
  if (names.length === 0 || names.length > MAX_VARIABLES)
    throw new CommandFailure(
      `--log-format: no variable in ${JSON.stringify(format.slice(0, 80))}`,
      "Give the log_format of nginx ('$remote_addr ... $request_time') or the format string of Envoy ('[%START_TIME%] ... %DURATION%').",
    );
  return { regex: new RegExp(pattern), names };
}

function quote(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
