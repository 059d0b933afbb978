import { html } from 'ghtml';
import { breathe } from '../../../core/breathe.ts';
import { findEntry } from '../../../sources/names/find-entry.ts';
import { type FolderRow, folderPage, type NamesPage } from '../../../sources/names/folder-page.ts';
import type { SourceEntry } from '../../../sources/source.ts';
import { fileParameters, formValue, link, paths } from '../links.ts';
import type { Looking } from '../looking.ts';
import { placeOf } from '../served/place.ts';
import { parseQuery, searchNames } from '../served/search-names.ts';
import type { Lease } from '../served/served-sources.ts';
import { formatCount, plainName, showBytes, showName } from '../text.ts';

/** Rows of a page. */
const rowsPerPage = 200;

/** The part of a source that is shown. */
export interface Browsing {
  id: string;
  /** Full path with a slash at its end; empty for the top. */
  folder: string;
  /** The search; empty to look at the folder itself. */
  query: string;
  from: number;
}

interface Shown extends NamesPage<FolderRow> {
  isCut?: boolean;
}

/** A folder of a source, or what a search finds below it. @throws E_NOT_FOUND, E_USAGE */
export async function browseView({ sources, signal }: Looking, browsing: Browsing): Promise<string> {
  const { id, folder, query, from } = browsing;
  const wanted = query.trim() === '' ? undefined : parseQuery(query);
  return sources.use(id, async (lease) => {
    const index = await lease.names();
    const choice = { folder, from, limit: rowsPerPage };
    const page: Shown =
      wanted === undefined ? folderPage(index, choice) : await searchNames(index, wanted, { ...choice, signal });
    const rows: string[] = [];
    for (const row of page.rows) {
      // The head of the page goes out meanwhile, and others are answered.
      await breathe(signal);
      rows.push(await showRow(lease, row, browsing));
    }
    return html`!${searchForm(browsing)}!${crumbs(lease, folder)}
!${rows.length === 0 ? nothing(browsing, page) : listing(rows, browsing)}
!${pager(browsing, page)}<p class="note">${formatCount(index.count)} names in all.</p>!${lease.notes.map((note) => html`<p class="note">Note: ${note}</p>`)}`;
  });
}

function searchForm({ id, folder, query }: Browsing): string {
  const where = folder === '' ? 'everywhere' : `below ${plainName(folder)}`;
  return html`<form class="search" role="search" action="${paths.browse}" method="get"><input type="hidden" name="in" value="${id}"><input type="hidden" name="below" value="${formValue(folder)}">
<label for="q">Search ${where}</label> <input id="q" name="q" type="search" value="${query}" maxlength="200" placeholder="words, or *.txt" autocomplete="off" spellcheck="false"> <button>Search</button></form>`;
}

/** The way to a folder: each part is a link. */
export function crumbs({ served }: Pick<Lease, 'served'>, path: string): string {
  const parts = path.split('/').slice(0, -1);
  const items = parts.map((part, i) => {
    const folder = `${parts.slice(0, i + 1).join('/')}/`;
    return html`<li><a href="${link(paths.browse, { in: served.id, folder })}">!${showName(part === '' ? '(no name)' : part)}</a></li>`;
  });
  const build =
    served.build === undefined ? '' : html`<li><a href="${link(paths.build, { in: served.id })}">Build</a></li>`;
  return html`<nav aria-label="Folders"><ul class="crumbs">!${build}<li><a href="${link(paths.browse, { in: served.id })}">!${showName(served.label)}</a></li>!${items}</ul></nav>`;
}

function nothing({ query, from }: Browsing, { next }: Shown): string {
  if (next !== undefined) return '<p>Nothing yet in the part that was looked through.</p>';
  if (query !== '') return html`<p>No ${from > 0 ? 'further ' : ''}name has this in it.</p>`;
  return '<p>There is nothing here.</p>';
}

function listing(rows: readonly string[], { id, folder, query }: Browsing): string {
  const whole = { in: id, folder, q: query };
  const what = query === '' ? 'the whole folder' : 'all that is found';
  return html`<form action="${link(paths.selection)}" method="get"><input type="hidden" name="in" value="${id}"><input type="hidden" name="below" value="${formValue(folder)}">
<div class="wide" tabindex="0" role="region" aria-label="Files"><table class="files"><caption>${query === '' ? 'Folders and files' : 'Files that were found'}</caption>
<thead><tr><th scope="col"><span class="away">Chosen</span></th><th scope="col">Name</th><th scope="col">Size</th><th scope="col" class="extra">Held</th><th scope="col"><span class="away">Get it</span></th></tr></thead>
<tbody>!${rows}</tbody></table></div>
<p class="actions">Get what is ticked: <button name="format" value="zip">zip</button> <button name="format" value="tar">tar</button>
<span>or ${what}: <a href="${link(paths.selection, { ...whole, format: 'zip' })}">zip</a>, <a href="${link(paths.selection, { ...whole, format: 'tar' })}">tar</a></span></p></form>`;
}

async function showRow({ served, source }: Lease, row: FolderRow, { folder, query }: Browsing): Promise<string> {
  const { id } = served;
  const box = (kind: 'd' | 'f', name: string): string =>
    html`<td><input type="checkbox" name="${kind}" value="${placeOf({ at: row.at, name })}" aria-label="Choose ${plainName(name)}"></td>`;
  if ('folder' in row) {
    const name = row.folder.slice(folder.length);
    return html`<tr class="folder">!${box('d', row.folder)}<th scope="row"><a href="${link(paths.browse, { in: id, folder: row.folder })}">!${showName(name === '/' ? '(no name)/' : name)}</a></th><td></td><td class="extra"></td><td></td></tr>`;
  }
  const { name } = row;
  const entry = await findEntry(source, row);
  const shown = showName(query === '' ? name.slice(folder.length) : name);
  if (entry === undefined)
    return html`<tr><td></td><th scope="row">!${shown}</th><td></td><td class="extra"></td><td><span class="none">not to be had</span></td></tr>`;
  const named = { in: id, ...fileParameters(row, placeOf(row)) };
  return html`<tr>!${box('f', name)}<th scope="row"><a href="${link(paths.file, named)}">!${shown}</a></th>
<td>!${showBytes(entry.size)}</td><td class="extra">!${showHeld(source.isHeld?.(entry))}!${showHidden(entry)}</td><td><a href="${link(paths.download, named)}">Download<span class="away"> ${plainName(name)}</span></a></td></tr>`;
}

/** Whether a file is held, in a word. */
export function showHeld(held: boolean | undefined): string {
  return held === false ? '<span class="none">no</span>' : 'yes';
}

function showHidden({ hidden }: SourceEntry): string {
  return hidden === undefined ? '' : html` <span class="tag" title="${hidden}">hidden</span>`;
}

function pager({ id, folder, query, from }: Browsing, { next, isCut }: Shown): string {
  const page = { in: id, folder, q: query };
  const more = isCut === true ? 'Search on' : 'Next page';
  const items = [
    ...(from > 0 ? [html`<li><a href="${link(paths.browse, page)}">First page</a></li>`] : []),
    ...(next === undefined
      ? []
      : [html`<li><a rel="next" href="${link(paths.browse, { ...page, from: next })}">${more}</a></li>`]),
  ];
  return items.length === 0 ? '' : html`<nav aria-label="Pages"><ul class="pager">!${items}</ul></nav>`;
}
