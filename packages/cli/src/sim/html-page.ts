import { escapeHtml } from "./chart-frame.ts";
import { reportStyle } from "./html-style.ts";

/** A page of one file: no script, nothing loaded. `title` is a text, `body` and `extraStyle` are markup and CSS. */
export function htmlPage({
  title,
  version,
  body,
  extraStyle = "",
}: {
  readonly title: string;
  readonly version: string;
  readonly body: string;
  readonly extraStyle?: string;
}): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';style-src 'unsafe-inline'">
<meta name="generator" content="bobtail ${escapeHtml(version)}">
<title>${escapeHtml(title)}</title><style>${reportStyle()}${extraStyle}</style></head><body>
<h1>${escapeHtml(title)}</h1>${body}
</body></html>
`;
}

/** A drawing with its heading, the key of its series (`labels`; one needs none) and a caption. */
export function figure({
  heading,
  caption,
  labels,
  svg,
  more = "",
}: {
  readonly heading: string;
  readonly caption: string;
  readonly labels: readonly string[];
  readonly svg: string;
  readonly more?: string;
}): string {
  const keys = labels.map(
    (label, i) =>
      `<li><svg viewBox="0 0 28 10" aria-hidden="true"><path class="l s${i}" d="M0 5H28"/></svg>${escapeHtml(label)}</li>`,
  );
  const key = labels.length < 2 ? "" : `<ul class="key">${keys.join("")}</ul>`;
  return `<figure><h2>${escapeHtml(heading)}</h2>${key}${svg}<figcaption>${escapeHtml(caption)}</figcaption>${more}</figure>\n`;
}
