import { html } from 'ghtml';
import { isComplete } from '../../../keep/gc/going-builds.ts';
import { link, paths } from '../links.ts';
import type { Looking } from '../looking.ts';
import { formatCount, showBytes, showName, showShare } from '../text.ts';

/** Objects that are listed. */
const mostObjects = 50;

/** The part of the view that changes: which builds lack something, and which objects processes fetch bytes of just now. */
export function fetchingNow({ store }: Looking): string {
  const claims = store.claims()?.list() ?? [];
  const objects = new Map<string, { stretches: number; bytes: number }>();
  for (const { path, start, end } of claims) {
    const { stretches, bytes } = objects.get(path) ?? { stretches: 0, bytes: 0 };
    objects.set(path, { stretches: stretches + 1, bytes: bytes + end - start });
  }
  const rows = [...objects]
    .slice(0, mostObjects)
    .map(
      ([path, { stretches, bytes }]) =>
        html`<tr><th scope="row"><code class="key">${path}</code></th><td>${formatCount(stretches)}</td><td>!${showBytes(bytes)}</td></tr>`,
    );
  const sum = claims.reduce((bytes, { start, end }) => bytes + end - start, 0);
  const more =
    objects.size > mostObjects ? html`<p>And ${formatCount(objects.size - mostObjects)} more objects.</p>` : '';
  const table = html`<div class="wide" tabindex="0" role="region" aria-label="Objects"><table><caption>Objects that are fetched now</caption><thead><tr><th scope="col">Object</th><th scope="col">Stretches</th><th scope="col">Bytes asked for</th></tr></thead><tbody>!${rows}</tbody></table></div>!${more}`;
  const state =
    claims.length === 0
      ? '<p class="state">Nothing is being fetched.</p>'
      : html`<p class="state">${formatCount(claims.length)} stretches of ${formatCount(objects.size)} objects are on their way: !${showBytes(sum)}.</p>`;
  return html`!${state}!${unfinished(store)}!${claims.length === 0 ? '' : table}`;
}

function unfinished({ ledger }: Looking['store']): string {
  const builds = ledger.builds().filter((row) => row.selection !== null && !isComplete(row));
  const rows = builds.map(
    ({ product, name, buildConfig, wanted, held }) =>
      html`<tr><th scope="row"><a href="${link(paths.build, { in: `${product}@${buildConfig}` })}">${product} !${showName(name)}</a></th><td>!${showShare(held.bytes, wanted.bytes, `Held of ${product} ${name}`)}</td><td>!${showBytes(wanted.bytes - held.bytes)}</td><td>${formatCount(wanted.entries - held.entries)}</td></tr>`,
  );
  if (rows.length === 0) return '<p>Every build that was synced is held as it was chosen.</p>';
  return html`<div class="wide" tabindex="0" role="region" aria-label="Builds"><table><caption>Builds that are not complete</caption><thead><tr><th scope="col">Build</th><th scope="col">Held</th><th scope="col">Lacks</th><th scope="col">Entries</th></tr></thead><tbody>!${rows}</tbody></table></div>`;
}

/** The view: script renews it as things change, and without script it comes anew every few seconds. */
export const fetchingHead = '<noscript><meta http-equiv="refresh" content="5"></noscript>\n';

/** The main part of the view. */
export async function fetchingView(looking: Looking): Promise<string> {
  return html`<div id="fetching" data-events="${paths.fetchingEvents}">!${fetchingNow(looking)}</div>`;
}
