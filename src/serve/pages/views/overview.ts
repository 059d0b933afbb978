import { html } from 'ghtml';
import type { BuildRow } from '../../../store/ledger/rows.ts';
import { link, paths } from '../links.ts';
import type { Looking } from '../looking.ts';
import { formatCount, showBytes, showFacts, showName, showShare } from '../text.ts';

/** Builds whose names are read before somebody asks for them. */
const mostWarmed = 4;

/** Products and builds of the store with how much of them is held, and other sources that are served. */
export async function overview({ store, sources }: Looking): Promise<string> {
  const served = await sources.list();
  const builds = served.flatMap(({ build }) => build ?? []);
  const products = [...new Set(builds.map(({ product }) => product))].sort();
  const pins = new Set(store.ledger.keeping.pins().map(({ product, buildConfig }) => `${product}@${buildConfig}`));
  // Whoever looks here looks into a build next.
  sources.warm(products.flatMap((product) => newest(builds, product)).slice(0, mostWarmed));
  const others = served.filter(({ build }) => build === undefined);
  const facts = showFacts([
    ['Holds', showBytes(store.ledger.heldBytes())],
    ['Products', formatCount(products.length)],
    ['Builds', formatCount(builds.length)],
    ['Fetching now', fetchingNow(store.claims()?.list().length ?? 0)],
  ]);
  const empty = '<p>No build is known yet. <code>pakrat sync PRODUCT</code> brings one.</p>';
  const groups = products.map((product) =>
    productRows(
      builds.filter((build) => build.product === product),
      pins,
    ),
  );
  return html`!${facts}!${groups.length === 0 ? empty : buildTable(groups)}!${others.length === 0 ? '' : othersTable(others)}`;
}

/** The synced build of a product that was added last. */
function newest(builds: readonly BuildRow[], product: string): string[] {
  const build = builds.find((one) => one.product === product && one.selection !== null);
  return build === undefined ? [] : [`${product}@${build.buildConfig}`];
}

function fetchingNow(count: number): string {
  return html`<a href="${paths.fetching}">${count === 0 ? 'nothing' : formatCount(count)}</a>`;
}

function buildTable(groups: readonly string[]): string {
  return html`<section><h2>Builds</h2><div class="wide" tabindex="0" role="region" aria-label="Builds"><table class="numbers"><caption>Builds by product, the last added first; shares are of what was chosen</caption>
<thead><tr><th scope="col">Product</th><th scope="col">Build</th><th scope="col">Held</th><th scope="col" class="extra">Entries</th><th scope="col" class="extra">Bytes</th><th scope="col" class="extra">of</th><th scope="col">Files</th></tr></thead>!${groups}</table></div></section>`;
}

function productRows(builds: readonly BuildRow[], pins: ReadonlySet<string>): string {
  const rows = builds.map((build, i) => {
    const product = i > 0 ? '' : html`<th scope="rowgroup" rowspan="${builds.length}">${build.product}</th>`;
    return html`<tr>!${product}!${buildCells(build, pins)}</tr>`;
  });
  return html`<tbody>!${rows}</tbody>`;
}

function buildCells(build: BuildRow, pins: ReadonlySet<string>): string {
  const { product, name, buildConfig, selection, wanted, held } = build;
  const id = `${product}@${buildConfig}`;
  const pinned = pins.has(id) ? ' <span class="tag">pinned</span>' : '';
  const amounts =
    selection === null
      ? '<td><span class="none">known, not synced</span></td><td class="extra" colspan="3"></td>'
      : html`<td>!${showShare(held.bytes, wanted.bytes, `Held of ${product} ${name}`)}</td><td class="extra">${formatCount(held.entries)}</td><td class="extra">!${showBytes(held.bytes)}</td><td class="extra">!${showBytes(wanted.bytes)}</td>`;
  return html`<th scope="row"><a href="${link(paths.build, { in: id })}">!${showName(name)}</a>!${pinned}</th>!${amounts}
<td><a href="${link(paths.browse, { in: id })}">Browse<span class="away"> ${product} ${name}</span></a></td>`;
}

function othersTable(others: readonly { id: string; label: string }[]): string {
  const rows = others.map(
    ({ id, label }) => html`<li><a href="${link(paths.browse, { in: id })}">!${showName(label)}</a></li>`,
  );
  return html`<section><h2>Other sources</h2><ul class="list">!${rows}</ul></section>`;
}
