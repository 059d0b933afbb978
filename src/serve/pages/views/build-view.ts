import { html } from 'ghtml';
import { breathe } from '../../../core/breathe.ts';
import { PakratError } from '../../../core/errors.ts';
import { plural } from '../../../core/quantities.ts';
import { decodeCdnConfig } from '../../../formats/configs/cdn-config.ts';
import { objectPath } from '../../../store/layout.ts';
import type { BuildRow } from '../../../store/ledger/rows.ts';
import { spanBytes } from '../../../store/spans.ts';
import { archivePicture } from '../archive-picture.ts';
import { link, paths } from '../links.ts';
import type { Looking } from '../looking.ts';
import { showError } from '../page.ts';
import { formatCount, showAmount, showBytes, showFacts, showKey, showName, showShare } from '../text.ts';

/** Archives that are drawn on one page. */
const archivesPerPage = 100;

/** A build: who it is, how much of it is held, and each archive as a picture of its held spans. @throws E_NOT_FOUND */
export async function buildView(looking: Looking, id: string, from: number): Promise<string> {
  const { build } = await looking.sources.get(id);
  if (build === undefined) throw new PakratError('E_NOT_FOUND', 'there is no such build here');
  const { product, name, buildId, buildConfig, cdnConfig, productConfig, keyRing, region, cdnPath } = build;
  const { selection, wanted, held } = build;
  if (selection !== null) looking.sources.warm([id]);
  const before = buildBefore(looking, build);
  const links = [
    html`<li><a href="${link(paths.browse, { in: id })}">Browse its files</a></li>`,
    html`<li><a href="${link(paths.keys, { in: id })}">Keys that are missing</a></li>`,
    before === undefined
      ? ''
      : html`<li><a href="${link(paths.diff, { before: `${product}@${before.buildConfig}`, after: id })}">Compare with !${showName(before.name)}</a></li>`,
  ];
  const facts = showFacts([
    ['Product', html`${product}`],
    ['Version', showName(name)],
    ['Build', html`${buildId ?? '–'}`],
    ['Region', html`${region}`],
    ['CDN path', html`<code>${cdnPath}</code>`],
    ['Build config', showKey(buildConfig)],
    ['CDN config', showKey(cdnConfig)],
    ['Product config', showKey(productConfig)],
    ['Key ring', showKey(keyRing)],
    ['Chosen', selection === null ? 'not synced' : showAmount(wanted)],
    ['Held', selection === null ? undefined : showAmount(held)],
    ['Complete', selection === null ? undefined : showShare(held.bytes, wanted.bytes, 'Held of what was chosen')],
  ]);
  return html`<ul class="actions">!${links}</ul>!${facts}!${await archives(looking, build, { id, from })}`;
}

/** The build of the product that was added before this one. */
function buildBefore({ store }: Looking, build: BuildRow): BuildRow | undefined {
  const builds = store.ledger.builds(build.product);
  const at = builds.findIndex(({ buildConfig }) => buildConfig === build.buildConfig);
  return builds[at + 1] ?? builds.find(({ buildConfig }) => buildConfig !== build.buildConfig);
}

async function archives(
  { store, signal }: Looking,
  build: BuildRow,
  { id, from }: { id: string; from: number },
): Promise<string> {
  try {
    const { cdnPath } = build;
    const bytes = store.readObject({ cdnPath, kind: 'config', hash: build.cdnConfig });
    if (bytes === undefined) return '<section><h2>Archives</h2><p>The CDN config is not held.</p></section>';
    const hashes = decodeCdnConfig(bytes).archives;
    const shown = hashes.slice(from, from + archivesPerPage);
    const rows: string[] = [];
    for (const [i, hash] of shown.entries()) {
      await breathe(signal);
      rows.push(archiveRow(store, { hash, cdnPath, number: from + i + 1 }));
    }
    return html`<section><h2>Archives</h2><p>${plural(hashes.length, 'archive', 'archives')}. <span class="key-held">Dark</span> is held, <span class="key-part">light</span> is held in part.</p>
<div class="wide" tabindex="0" role="region" aria-label="Archives"><table class="archives"><caption>Held spans of archives !${rangeOf(from, shown.length, hashes.length)}</caption>
<thead><tr><th scope="col">No.</th><th scope="col">Archive</th><th scope="col">Size</th><th scope="col">Held</th><th scope="col">Spans</th></tr></thead><tbody>!${rows}</tbody></table></div>
!${pager(id, from, hashes.length)}</section>`;
  } catch (error) {
    return html`<h2>Archives</h2>!${showError(error)}`;
  }
}

function rangeOf(from: number, count: number, all: number): string {
  return html`${formatCount(Math.min(from + 1, all))} to ${formatCount(from + count)} of ${formatCount(all)}`;
}

function pager(id: string, from: number, count: number): string {
  const item = (start: number, text: string): string =>
    html`<li><a href="${link(paths.build, { in: id, from: start })}">${text}</a></li>`;
  const items = [
    ...(from > 0 ? [item(Math.max(0, from - archivesPerPage), 'Archives before')] : []),
    ...(from + archivesPerPage < count ? [item(from + archivesPerPage, 'More archives')] : []),
  ];
  return items.length === 0 ? '' : html`<nav aria-label="Archives"><ul class="pager">!${items}</ul></nav>`;
}

function archiveRow(
  { ledger, files }: Looking['store'],
  { hash, cdnPath, number }: { hash: string; cdnPath: string; number: number },
): string {
  const path = objectPath({ cdnPath, kind: 'data', hash });
  const spans = ledger.spans(path);
  const held = spanBytes(spans);
  const size = ledger.completeSize(path) ?? files.archiveEnd(path);
  const drawn = Math.max(size ?? 0, spans.at(-1)?.end ?? 0);
  const percent = drawn === 0 ? 0 : Math.floor((held / drawn) * 100);
  const label = `Archive ${number}: ${size === undefined ? 'its size is not known' : `${percent} % held`}`;
  return html`<tr><td>${formatCount(number)}</td><th scope="row">!${showKey(hash)}</th><td>!${showBytes(size)}</td><td>!${showBytes(held)}</td>
<td>!${archivePicture(spans, drawn, label)}</td></tr>`;
}
