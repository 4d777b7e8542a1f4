import { showPercent } from "../plan/figures.ts";
import { escapeHtml } from "../sim/chart-frame.ts";
import { figure, htmlPage } from "../sim/html-page.ts";
import { simpleTable } from "../sim/html-table.ts";
import { type Distance, distanceChart } from "./chart-distance.ts";
import { worstOf } from "./grade.ts";
import {
  legend,
  methodOf,
  notesOf,
  showCell,
  showCores,
  showExtra,
  showPercentile,
  showTime,
} from "./trial-figures.ts";
import {
  cellOf,
  type Percentile,
  type ReportedScenario,
  type ReportedTarget,
  type TrialCell,
  type TrialReport,
} from "./trial-report.ts";

const TITLE = "Would it route round a backend that is sick?";
const DRAWN =
  "Bars run from the ideal's p99 to the target's, dots are p99.9. Where a percentile lies among the failures, that of the answered requests is drawn.";
/** The grades by colour and by letter, for those who do not see the colour. */
const STYLE =
  ".A{background:#0072b222}.B{background:#56b4e922}.C{background:#f0e44233}.D{background:#e69f0033}" +
  ".E{background:#d55e0033}.F{background:#d55e0066}pre{overflow-x:auto;font-size:.8rem;line-height:1.35}";

/** The report card as one HTML file: no script, nothing loaded. */
export function trialHtml(report: TrialReport): string {
  const notes = notesOf(report).map(
    (note) => `<p${note.startsWith("PARTIAL") ? ' class="warn"' : ""}>${escapeHtml(note)}</p>`,
  );
  const sections = report.scenarios.map((scenario, i) => sectionOf(report, scenario, i));
  return htmlPage({
    title: TITLE,
    version: report.version,
    extraStyle: STYLE,
    body: `<p class="dim">${escapeHtml(methodOf(report))}</p>
${matrix(report)}<p class="dim">${escapeHtml(legend())}</p><p class="dim">${DRAWN}</p>${notes.join("")}
${sections.join("")}<h2>Configurations</h2>${report.targets.map(configOf).join("")}
<p class="dim">Again: <code>${escapeHtml(report.command)}</code>, bobtail ${escapeHtml(report.version)}.</p>`,
  });
}

function matrix(report: TrialReport): string {
  const names = report.targets
    .map(({ name }) => name)
    .filter((name) => report.cells.some((cell) => cell.target === name));
  const head = ["scenario", "ideal p99", ...names].map(
    (text) => `<th scope="col">${escapeHtml(text)}</th>`,
  );
  const rows = report.scenarios.map((scenario) => {
    const cells = names.map((name) => {
      const cell = cellOf(report, scenario.name, name);
      return `<td class="${cell?.grade ?? ""}" title="${escapeHtml(cell?.why ?? "")}">${escapeHtml(showCell(cell))}</td>`;
    });
    return `<tr><td>${escapeHtml(scenario.name)}</td><td>${showTime(scenario.oracle.p99Ms)} ms</td>${cells.join("")}</tr>`;
  });
  const worst = names.map((name) => {
    const grades = report.cells.filter((cell) => cell.target === name).map(({ grade }) => grade);
    return `<td>${worstOf(grades.filter((grade) => grade !== undefined)) ?? "-"}</td>`;
  });
  return `<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>${rows.join("")}<tr><td>worst</td><td></td>${worst.join("")}</tr></tbody></table></div>`;
}

function sectionOf(report: TrialReport, scenario: ReportedScenario, index: number): string {
  const cells = report.cells.filter((cell) => cell.scenario === scenario.name);
  if (cells.length === 0) return "";
  const { oracle } = scenario;
  return figure({
    heading: `${scenario.name}: ${scenario.title}`,
    caption: `${scenario.question} The ideal (${oracle.how}): ${oracle.why}`,
    labels: [],
    svg: distanceChart(`s${index}`, oracle, cells.map(distanceOf)),
    more: `<details><summary>Figures</summary><div class="scroll">${figuresTable(scenario, cells)}</div><p>${escapeHtml(scenario.health)}</p></details>`,
  });
}

function distanceOf({ target, state, grade, figures }: TrialCell): Distance {
  return {
    label: target,
    p99Ms: drawnMs(figures?.p99, figures?.successOnly.p99Ms),
    p999Ms: drawnMs(figures?.p999, figures?.successOnly.p999Ms),
    failedRatio: figures?.failedRatio ?? 0,
    grade: grade ?? state.replace("-", " "),
  };
}

function drawnMs(percentile: Percentile, answeredMs: number | undefined): number | undefined {
  return percentile === "unbounded" ? answeredMs : percentile?.ms;
}

const HEAD = [
  "",
  "grade",
  "p50 ms",
  "p99 ms",
  "p99.9 ms",
  "answered only: p50",
  "p99",
  "p99.9",
  "failed",
  "to sick",
  "extra load",
  "requests",
  "CPU: target",
  "fleet",
  "generator",
  "why",
];

function figuresTable({ oracle }: ReportedScenario, cells: readonly TrialCell[]): string {
  const times = [oracle.p50Ms, oracle.p99Ms, oracle.p999Ms].map(showTime);
  const shares = [showPercent(oracle.failedRatio), showPercent(oracle.sickShareRatio)];
  const ideal = ["ideal", "", ...times, ...times, ...shares, showExtra(oracle.extraRatio)];
  return simpleTable(HEAD, [[...ideal, "", "", "", "", ""], ...cells.map(rowOf)]);
}

function rowOf({ target, state, grade, why, figures }: TrialCell): string[] {
  const verdict = grade ?? state;
  if (figures === undefined) return [target, verdict, ...Array<string>(13).fill(""), why];
  const { successOnly, cpu } = figures;
  const failures = figures.failures.map(([kind, requests]) => `${kind} x ${requests}`).join(", ");
  return [
    target,
    verdict,
    ...[figures.p50, figures.p99, figures.p999].map(showPercentile),
    ...[successOnly.p50Ms, successOnly.p99Ms, successOnly.p999Ms].map(showTime),
    showPercent(figures.failedRatio),
    showPercent(figures.sickShareRatio),
    showExtra(figures.extraRatio),
    String(figures.requests),
    ...[cpu.target, cpu.fleet, cpu.generator].map(showCores),
    [why, failures].filter((text) => text !== "").join("; "),
  ];
}

function configOf({ name, title, version, config, notes }: ReportedTarget): string {
  const said = notes.map((note) => `<p>${escapeHtml(note)}</p>`).join("");
  return `<details><summary>${escapeHtml(`${name}, ${version}`)}: ${escapeHtml(title)}</summary>${said}<pre>${escapeHtml(config)}</pre></details>`;
}
