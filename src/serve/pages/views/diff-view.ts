import { html } from 'ghtml';
import { type DiffItem, type DiffReport, diff, itemName, sizesOf } from '../../../app/diff.ts';
import { PakratError } from '../../../core/errors.ts';
import { link, paths } from '../links.ts';
import type { Looking } from '../looking.ts';
import type { Served } from '../served/served-sources.ts';
import { formatCount, showAmount, showBytes, showName } from '../text.ts';

/** Rows of a page, and folders of the summary. */
const [rowsPerPage, mostFolders] = [200, 30];

const kinds = ['changed', 'added', 'removed', 'renamed'] as const;

/** The two sides, and the part of the list that is shown. */
export interface Comparing {
  before: string;
  after: string;
  /** Only files that differ so; empty for all. */
  kind: string;
  from: number;
}

/** Comparisons that are kept for the pages that follow: a comparison of two large builds takes seconds. */
export class Comparisons {
  readonly #kept = new Map<string, Promise<DiffReport>>();
  static readonly #most = 2;

  /** @throws E_NOT_FOUND, and as `diff` does */
  async get({ session, signal }: Looking, before: Served, after: Served): Promise<DiffReport> {
    const key = JSON.stringify([before.id, after.id]);
    const report = this.#kept.get(key) ?? diff(session, nameOf(before), nameOf(after), { signal });
    this.#kept.delete(key);
    this.#kept.set(key, report);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > Comparisons.#most && oldest !== undefined) this.#kept.delete(oldest);
    return report.catch((error: unknown) => {
      this.#kept.delete(key);
      throw error;
    });
  }
}

function nameOf({ build, path = '' }: Served): string {
  return build === undefined ? path : `tact:${build.product}@${build.buildConfig}`;
}

/** Two sources against each other; a form to choose them where they are not given. @throws as `diff` does */
export async function diffView(looking: Looking, kept: Comparisons, comparing: Comparing): Promise<string> {
  const served = await looking.sources.list();
  const form = chooseForm(served, comparing);
  if (comparing.before === '' || comparing.after === '') return form;
  if (comparing.before === comparing.after) throw new PakratError('E_USAGE', 'these are the same');
  const [before, after] = [await looking.sources.get(comparing.before), await looking.sources.get(comparing.after)];
  const report = await kept.get(looking, before, after);
  return html`!${form}!${summaryOf(report, comparing)}!${listOf(report, comparing)}`;
}

function chooseForm(served: readonly Served[], { before, after }: Comparing): string {
  const options = (chosen: string): string[] =>
    served.map(({ id, label }) => html`<option value="${id}"!${id === chosen ? ' selected' : ''}>${label}</option>`);
  const select = (name: string, label: string, chosen: string): string =>
    html`<label for="${name}">${label}</label> <select id="${name}" name="${name}">!${options(chosen)}</select> `;
  return html`<form class="search" action="${paths.diff}" method="get">!${select('before', 'From', before || (served[1]?.id ?? ''))}!${select('after', 'to', after || (served[0]?.id ?? ''))}<button>Compare</button></form>`;
}

function summaryOf({ summary, failed }: DiffReport, comparing: Comparing): string {
  const { kind: shown, before, after } = comparing;
  const rows = kinds.map((kind) => {
    const { files, bytes } = summary[kind];
    const name = html`<a href="${link(paths.diff, { before, after, kind })}"!${kind === shown ? ' aria-current="true"' : ''}>${kind}</a>`;
    return html`<tr class="change-${kind}"><th scope="row">!${name}</th><td>${formatCount(files)}</td><td>!${showBytes(bytes)}</td></tr>`;
  });
  const folders = summary.folders
    .slice(0, mostFolders)
    .map(
      ({ folder, added, removed, changed, renamed, growth }) =>
        html`<tr><th scope="row">!${showName(folder || '(no folder)')}</th><td>${formatCount(changed)}</td><td>${formatCount(added)}</td><td>${formatCount(removed)}</td><td>${formatCount(renamed)}</td><td>${growth < 0 ? '−' : '+'}!${showBytes(Math.abs(growth))}</td></tr>`,
    );
  const sync =
    summary.fetch === null
      ? ''
      : html`<p>A sync of the second beyond the first needs !${showAmount(summary.fetch)}.</p>`;
  const lost = failed.length === 0 ? '' : html`<p>${formatCount(failed.length)} files could not be compared.</p>`;
  return html`<section><h2>In sum</h2><div class="beside"><table><caption>Files that differ</caption><thead><tr><th scope="col">Files</th><th scope="col">Number</th><th scope="col">Bytes</th></tr></thead>
<tbody>!${rows}<tr><th scope="row">unchanged</th><td>${formatCount(summary.unchanged.files)}</td><td></td></tr></tbody></table>
<div class="wide" tabindex="0" role="region" aria-label="Folders"><table><caption>By folder at the top</caption><thead><tr><th scope="col">Folder</th><th scope="col">Changed</th><th scope="col">Added</th><th scope="col">Removed</th><th scope="col">Renamed</th><th scope="col">Growth</th></tr></thead><tbody>!${folders}</tbody></table></div></div>!${sync}!${lost}</section>`;
}

function listOf(report: DiffReport, { before, after, kind, from }: Comparing): string {
  const rows: string[] = [];
  let at = 0;
  let more = false;
  for (const item of report.items()) {
    if (kind !== '' && item.kind !== kind) continue;
    more = at >= from + rowsPerPage;
    if (more) break;
    if (at >= from) rows.push(itemRow(item, before, after));
    at += 1;
  }
  if (rows.length === 0) return '';
  const page = { before, after, kind };
  const items = [
    ...(from > 0 ? [html`<li><a href="${link(paths.diff, page)}">First page</a></li>`] : []),
    ...(more ? [html`<li><a rel="next" href="${link(paths.diff, { ...page, from: at })}">Next page</a></li>`] : []),
  ];
  return html`<section><h2>Files</h2><div class="wide" tabindex="0" role="region" aria-label="Files that differ"><table class="files"><caption>${kind === '' ? 'All that differ' : kind}, from number ${formatCount(from + 1)} on</caption>
<thead><tr><th scope="col">How</th><th scope="col">Name</th><th scope="col">Before</th><th scope="col">After</th></tr></thead><tbody>!${rows}</tbody></table></div>
!${items.length === 0 ? '' : html`<nav aria-label="Pages"><ul class="pager">!${items}</ul></nav>`}</section>`;
}

function itemRow(item: DiffItem, before: string, after: string): string {
  const name = itemName(item);
  const [old, now] = sizesOf(item);
  const index = ('after' in item ? item.after : item.before).index;
  const href = link(paths.file, { in: item.kind === 'removed' ? before : after, name, index });
  const was =
    item.kind === 'renamed' ? html`<br>was !${showName(item.before.name ?? `fdid:${item.before.fileDataId}`)}` : '';
  return html`<tr class="change-${item.kind}"><td>${item.kind}</td><th scope="row"><a href="${href}">!${showName(name)}</a>!${was}</th><td>!${'before' in item ? showBytes(old) : ''}</td><td>!${'after' in item ? showBytes(now) : ''}</td></tr>`;
}
