import { html } from 'ghtml';
import type { Span } from '../../store/spans.ts';

/** Columns of a picture. */
const columns = 400;

/**
 * The held spans of an archive as a picture: a column is dark when all of it is held, light when some is.
 * @param size of the archive
 * @param label what a screen reader says of it
 */
export function archivePicture(spans: readonly Span[], size: number, label: string): string {
  const covered = new Float64Array(columns);
  const perColumn = Math.max(1, size) / columns;
  for (const { start, end } of spans) {
    const last = Math.min(columns - 1, Math.floor((end - 1) / perColumn));
    for (let column = Math.floor(start / perColumn); column <= last; column++) {
      const overlap = Math.min(end, (column + 1) * perColumn) - Math.max(start, column * perColumn);
      covered[column] = covered[column]! + overlap / perColumn;
    }
  }
  const kindOf = (column: number): string => (covered[column]! >= 0.9999 ? 'held' : covered[column]! > 0 ? 'part' : '');
  const runs: string[] = [];
  for (let start = 0, end = 0; start < columns; start = end) {
    const kind = kindOf(start);
    while (end < columns && kindOf(end) === kind) end += 1;
    if (kind !== '') runs.push(html`<rect class="${kind}" x="${start}" y="0" width="${end - start}" height="10"/>`);
  }
  return html`<svg class="spans" viewBox="0 0 400 10" preserveAspectRatio="none" role="img" aria-label="${label}"><rect class="lack" width="400" height="10"/>!${runs}</svg>`;
}
