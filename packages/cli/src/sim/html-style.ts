/** Colours of Okabe and Ito (2008), told apart by the colour-blind; the lines differ by their dashes too. */
const SERIES: readonly (readonly [light: string, dark: string, dash: string])[] = [
  ["#0072b2", "#56a9e8", ""],
  ["#d55e00", "#f08c4a", ""],
  ["#009e73", "#2fc79d", "8 3"],
  ["#b6539a", "#dd8cc0", "8 3"],
  ["#a07800", "#e0b13c", "3 3"],
  ["#3a7fa8", "#8ecbf0", "3 3"],
  ["#444444", "#c9c9c9", "10 3 3 3"],
  ["#7a4fb5", "#b79aec", "10 3 3 3"],
];

const LIGHT = "--bg:#fff;--fg:#1b1f24;--dim:#5b6470;--grid:#e4e7eb;--axis:#8b94a0;--cost:#8b94a0";
const DARK = "--bg:#14171b;--fg:#e6e9ed;--dim:#9aa4b1;--grid:#262c33;--axis:#6b7683;--cost:#76818f";

/** The whole style of a report: nothing else is loaded. */
export function reportStyle(): string {
  const colours = (dark: boolean): string =>
    SERIES.map(([light, night], i) => `--c${i}:${dark ? night : light}`).join(";");
  const series = SERIES.map(
    ([, , dash], i) =>
      `.s${i}{stroke:var(--c${i})${dash === "" ? "" : `;stroke-dasharray:${dash}`}}.f${i}{fill:var(--c${i})}`,
  ).join("");
  return [
    `:root{color-scheme:light dark;${LIGHT};${colours(false)}}`,
    `@media(prefers-color-scheme:dark){:root{${DARK};${colours(true)}}}`,
    `@media print{:root{color-scheme:light;${LIGHT};${colours(false)}}figure,tr{break-inside:avoid}}`,
    "body{margin:0 auto;max-width:60rem;padding:1.5rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}",
    "h1{font-size:1.4rem;line-height:1.25;margin:0 0 .3rem}h2{font-size:1.05rem;margin:0}p{margin:.4rem 0}.dim,figcaption{color:var(--dim);font-size:.87rem}",
    ".warn{border:1px solid #c78500;border-radius:6px;padding:.4rem .7rem;margin:.8rem 0}",
    ".scroll{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}",
    "th,td{padding:.25rem .8rem .25rem 0;text-align:right;vertical-align:top;border-bottom:1px solid var(--grid);white-space:nowrap}th:first-child,td:first-child{text-align:left;white-space:normal;min-width:9rem}",
    "th{color:var(--dim);font-weight:600}td small{display:block;color:var(--dim);font-size:.78rem}",
    "figure{margin:2rem 0}svg{width:100%;height:auto;display:block;margin:.4rem 0}svg text{fill:var(--dim);font:12px system-ui,sans-serif}svg .t{fill:var(--fg)}",
    ".g{stroke:var(--grid);fill:none}.a{stroke:var(--axis);fill:none}.w{stroke:var(--fg);stroke-width:1.2;fill:none;opacity:.65}",
    ".l{fill:none;stroke-width:2;stroke-linejoin:round}.thin{stroke-width:1;opacity:.75}.b{opacity:.16}.cost{fill:var(--cost)}",
    ".key{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;list-style:none;margin:.3rem 0;padding:0;font-size:.87rem}.key svg{display:inline-block;width:28px;height:10px;margin:0 .4rem 0 0}",
    "details{font-size:.87rem}summary{color:var(--dim);cursor:pointer}",
    series,
  ].join("");
}
