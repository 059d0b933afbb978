import { html } from 'ghtml';
import { type FileInBuild, findWhich } from '../../../app/which.ts';
import { link, paths } from '../links.ts';
import type { Looking } from '../looking.ts';
import { showBytes, showKey, showName } from '../text.ts';
import { showHeld } from './browse-view.ts';

/** One file through the builds of the store. @param name empty to ask for one @throws E_NOT_FOUND, E_USAGE */
export async function historyView({ session, signal }: Looking, name: string): Promise<string> {
  const form = html`<form class="search" role="search" action="${paths.history}" method="get"><label for="name">Name of a file</label>
<input id="name" name="name" type="search" value="${name}" placeholder="folder/file.txt, fdid:1, ckey:…" spellcheck="false"> <button>Show</button></form>`;
  if (name === '') return form;
  const { builds } = await findWhich(session, name, { signal });
  const rows = builds.map((build) => buildRow(name, build));
  return html`!${form}<div class="wide" tabindex="0" role="region" aria-label="Builds"><table><caption>!${showName(name)} in each build, the oldest first</caption>
<thead><tr><th scope="col">Build</th><th scope="col">Change</th><th scope="col">Size</th><th scope="col">Content</th><th scope="col">Held</th></tr></thead><tbody>!${rows}</tbody></table></div>`;
}

function buildRow(
  name: string,
  { product, name: version, buildConfig, change, ckey, size, held, problem }: FileInBuild,
): string {
  const id = `${product}@${buildConfig}`;
  const isThere = change === 'new' || change === 'same' || change === 'changed';
  const file = isThere ? html`<a href="${link(paths.file, { in: id, name })}">${change}</a>` : html`${change ?? ''}`;
  const what = problem === undefined ? file : html`<span class="none">${problem.message}</span>`;
  return html`<tr class="change-${change ?? 'unknown'}"><th scope="row"><a href="${link(paths.build, { in: id })}">${product} !${showName(version)}</a></th><td>!${what}</td>
<td>!${isThere ? showBytes(size) : ''}</td><td>!${isThere ? showKey(ckey) : ''}</td><td>!${isThere ? showHeld(held) : ''}</td></tr>`;
}
