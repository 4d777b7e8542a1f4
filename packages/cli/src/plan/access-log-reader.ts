import { CommandFailure } from "../terminal/failure.ts";
import type { LogReader, ReaderSetup } from "./latency-log.ts";
import type { LatencyUnit } from "./latency-unit.ts";
import { compileLogFormat } from "./log-pattern.ts";
import { fixedFactor } from "./value-reader.ts";

/** What is known of the variables that hold a time, and of those that tell of a client that went away. */
interface Dialect {
  readonly name: string;
  readonly times: ReadonlyMap<string, LatencyUnit>;
  readonly preferred: readonly string[];
  isCut(variables: ReadonlyMap<string, string>): boolean;
}

const NGINX: Dialect = {
  name: "nginx",
  times: new Map([
    ["request_time", "s"],
    ["upstream_response_time", "s"],
    ["upstream_header_time", "s"],
    ["upstream_connect_time", "s"],
  ]),
  preferred: ["request_time", "upstream_response_time", "upstream_header_time"],
  // 499: the client closed before the answer came, as one that hedges does to the loser.
  isCut: (variables) => variables.get("status") === "499",
};

const ENVOY: Dialect = {
  name: "envoy",
  times: new Map([
    ["DURATION", "ms"],
    ["REQUEST_DURATION", "ms"],
    ["RESPONSE_DURATION", "ms"],
    ["RESPONSE_TX_DURATION", "ms"],
    ["RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)", "ms"],
  ]),
  preferred: ["DURATION", "RESPONSE_DURATION", "RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)"],
  // DC: downstream connection termination.
  isCut: (variables) => (variables.get("RESPONSE_FLAGS") ?? "").split(",").includes("DC"),
};

/** Access logs of nginx and Envoy: in a format that is given, in Envoy's default, or with nginx times as `rt=0.123`. */
export function accessLogReader(setup: ReaderSetup, kind: "nginx" | "envoy"): LogReader {
  const dialect = kind === "nginx" ? NGINX : ENVOY;
  const { logFormat } = setup.options;
  const variablesOf =
    logFormat !== undefined ? byFormat(logFormat) : kind === "nginx" ? nginxPairs : envoyDefault;
  const choose = timeChooser(dialect, setup, logFormat);
  return {
    line(text) {
      if (text.trim() === "") return;
      const variables = variablesOf(text);
      if (variables === undefined) return setup.sink.skip(`not a line of this ${dialect.name} log`);
      const time = choose(variables);
      if (time === undefined) return setup.sink.skip("without a time");
      // After retries nginx writes one time for each server; the last one answered.
      const written = time.written.split(/[,:]/).at(-1)?.trim() ?? "";
      if (written === "-" || written === "") return setup.sink.skip("without a time");
      const ms = Number(written) * time.factor;
      if (Number.isNaN(ms)) setup.sink.skip("not a number");
      else if (dialect.isCut(variables)) setup.sink.addCensored(ms);
      else setup.sink.add(ms);
    },
    end() {},
  };
}

type Variables = ReadonlyMap<string, string>;

function timeChooser(dialect: Dialect, setup: ReaderSetup, logFormat: string | undefined) {
  const { options } = setup;
  let chosen = options.field?.replace(/^[$%]|%$/g, "");
  return (variables: Variables): { written: string; factor: number } | undefined => {
    chosen ??= dialect.preferred.find((name) => variables.has(name));
    if (chosen === undefined) {
      if (logFormat === undefined) return undefined;
      throw new CommandFailure(
        `--log-format: it holds none of ${dialect.preferred.join(", ")}`,
        "Name the variable that holds the latency with --field.",
      );
    }
    const written = variables.get(chosen);
    if (written === undefined) return undefined;
    const unit = options.unit ?? dialect.times.get(chosen);
    if (unit === undefined)
      throw new CommandFailure(
        `${setup.place()}: ${JSON.stringify(chosen)} has no known unit`,
        "Say it with --unit ns, us, ms or s.",
      );
    return { written, factor: fixedFactor(options, unit) };
  };
}

function byFormat(format: string): (text: string) => Variables | undefined {
  const { regex, names } = compileLogFormat(format);
  return (text) => {
    const found = regex.exec(text);
    return found === null
      ? undefined
      : new Map(names.map((name, i) => [name, found[i + 1] as string]));
  };
}

const NGINX_TIMES =
  /\b(rt|request_time|urt|upstream_response_time|uht|upstream_header_time)[=:]\s*"?([\d.]+(?:[,:\s]+[\d.]+)*|-)/g;
const NGINX_STATUS = /" (\d{3}) /;
const SHORT_NAMES: Readonly<Record<string, string>> = {
  rt: "request_time",
  urt: "upstream_response_time",
  uht: "upstream_header_time",
};

/** The usual extension of the combined format: times as name=value. */
function nginxPairs(text: string): Variables | undefined {
  const variables = new Map<string, string>();
  for (const [, name = "", value = ""] of text.matchAll(NGINX_TIMES))
    variables.set(SHORT_NAMES[name] ?? name, value);
  const status = NGINX_STATUS.exec(text)?.[1];
  if (status !== undefined) variables.set("status", status);
  return variables.size === 0 ? undefined : variables;
}

/** Envoy's default format, and Istio's, which writes two or three fields more after the flags. */
const ENVOY_LINE =
  /^\[[^\]]*\] "[^"]*" (\d+) (\S+) (?:\S+ (?:\S+ )?"[^"]*" )?(\d+) (\d+) (\d+|-) (\d+|-) "/;

function envoyDefault(text: string): Variables | undefined {
  const found = ENVOY_LINE.exec(text);
  if (found === null) return undefined;
  const [, status = "", flags = "", , , duration = "", upstream = ""] = found;
  return new Map([
    ["RESPONSE_CODE", status],
    ["RESPONSE_FLAGS", flags],
    ["DURATION", duration],
    ["RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)", upstream],
  ]);
}
