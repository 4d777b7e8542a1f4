import type { Histogram } from "bobtail/engine";

export type MetricType = "counter" | "gauge" | "histogram";
export type Labels = Readonly<Record<string, string>>;

/** Upper bounds of the buckets, in seconds. */
const BOUNDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const MICROS = 1e6;

/** Prometheus text exposition, version 0.0.4: families in the order they are begun, each announced once. */
export class PrometheusText {
  private readonly lines: string[] = [];
  private name: string = "";

  family(name: string, type: MetricType, help: string): void {
    this.name = name;
    this.lines.push(`# HELP ${name} ${help.replace(/\\/g, "\\\\").replace(/\n/g, "\\n")}`);
    this.lines.push(`# TYPE ${name} ${type}`);
  }

  sample(labels: Labels, value: number): void {
    this.lines.push(`${this.name}${braces(labels)} ${show(value)}`);
  }

  /** A histogram of microseconds, told in seconds; an empty one is left out. */
  histogram(labels: Labels, values: Histogram): void {
    if (values.count === 0) return;
    const { name, lines } = this;
    for (const bound of BOUNDS) {
      const count = values.countAtMost(bound * MICROS);
      lines.push(`${name}_bucket${braces({ ...labels, le: String(bound) })} ${count}`);
    }
    lines.push(`${name}_bucket${braces({ ...labels, le: "+Inf" })} ${values.count}`);
    lines.push(`${name}_sum${braces(labels)} ${show(values.sum / MICROS)}`);
    lines.push(`${name}_count${braces(labels)} ${values.count}`);
  }

  toString(): string {
    return `${this.lines.join("\n")}\n`;
  }
}

function braces(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
}

function show(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return Number.isNaN(value) ? "NaN" : String(value);
}
