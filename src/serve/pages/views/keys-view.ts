import { html } from 'ghtml';
import { missingKeysOf } from '../../../app/keys/missing-keys.ts';
import type { MissingKey } from '../../../builds/keys/missing-key.ts';
import { link, paths } from '../links.ts';
import type { Looking } from '../looking.ts';
import { formatCount, showBytes, showName } from '../text.ts';
import { crumbs } from './browse-view.ts';

/** The keys that are missing to read a source, and what they lock. @throws E_NOT_FOUND, E_UNSUPPORTED */
export async function keysView({ sources, signal }: Looking, id: string): Promise<string> {
  return sources.use(id, async (lease) => {
    const keys = await missingKeysOf(lease.source, signal);
    const rows = keys.map((key) => keyRow(id, key));
    const table = html`<div class="wide" tabindex="0" role="region" aria-label="Missing keys"><table><caption>Keys that are missing, and what they lock</caption>
<thead><tr><th scope="col">Key</th><th scope="col">Files</th><th scope="col">Bytes</th><th scope="col">Entries</th><th scope="col">Some of the files</th></tr></thead><tbody>!${rows}</tbody></table></div>`;
    return html`!${crumbs(lease, '')}!${rows.length === 0 ? '<p>No key is missing.</p>' : table}`;
  });
}

function keyRow(id: string, { key, files, bytes, entries, names }: MissingKey): string {
  const count = (number: number | null | undefined): string =>
    number === null || number === undefined ? '–' : formatCount(number);
  const some = names.map(
    (name) => html`<li><a href="${link(paths.file, { in: id, name })}">!${showName(name)}</a></li>`,
  );
  return html`<tr><th scope="row"><code class="key">${key}</code></th><td>${count(files)}</td><td>!${showBytes(bytes)}</td><td>${count(entries)}</td><td><ul class="plain">!${some}</ul></td></tr>`;
}
