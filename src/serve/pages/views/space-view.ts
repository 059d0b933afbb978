import { html } from 'ghtml';
import { type GcReport, gc } from '../../../app/gc.ts';
import { isPakratError } from '../../../core/errors.ts';
import type { Looking } from '../looking.ts';
import { showError } from '../page.ts';
import { formatCount, showBytes, showFacts } from '../text.ts';

/** What a plan of `gc` said is told for so long before it is planned anew: it reads every build. */
const planMs = 60_000;

/** Plans what `gc` would free, for all who ask at once. */
export class GcPlans {
  #plan: Promise<GcReport> | undefined;
  #made = 0;

  /** @throws as `gc` */
  get({ session, signal }: Looking): Promise<GcReport> {
    if (this.#plan === undefined || performance.now() - this.#made > planMs) {
      this.#made = performance.now();
      this.#plan = gc(session, { dryRun: true, signal });
      this.#plan.catch(() => {
        this.#plan = undefined;
      });
    }
    return this.#plan;
  }
}

/** The space that products take, and what would come free. */
export async function spaceView(looking: Looking, plans: GcPlans): Promise<string> {
  return html`!${byPath(looking)}<section><h2>What <code>pakrat gc</code> would free</h2>!${await plan(looking, plans)}</section>`;
}

async function plan(looking: Looking, plans: GcPlans): Promise<string> {
  try {
    const { objects, bytes, diskBytes, kept, spared } = await plans.get(looking);
    const reasons = spared.map(({ cdnPath, reason }) => html`<li><code>${cdnPath}</code>: ${reason}</li>`);
    return html`!${showFacts([
      ['Objects that shrink or go', formatCount(objects)],
      ['Bytes no build wants', showBytes(bytes)],
      ['Space on the disk', showBytes(diskBytes)],
      ['Stays held', showBytes(kept.bytes)],
    ])}!${reasons.length === 0 ? '' : html`<p>Nothing goes of these:</p><ul class="list">!${reasons}</ul>`}`;
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return showError(error);
  }
}

interface PathSum {
  objects: number;
  bytes: number;
}

/** Products share what lies at one CDN path: nothing of it is any one's own. */
function byPath({ store }: Looking): string {
  const sums = new Map<string, PathSum>();
  for (const { path, bytes } of [...store.ledger.objects()]) {
    const cdnPath = /^(.+?)\/(?:config|data|patch)\//.exec(path)?.[1] ?? path.replace(/\/..\/..\/[^/]*$/, '');
    const sum = sums.get(cdnPath) ?? { objects: 0, bytes: 0 };
    sum.objects += 1;
    sum.bytes += bytes;
    sums.set(cdnPath, sum);
  }
  const products = new Map<string, Set<string>>();
  for (const { product, cdnPath, configPath } of store.ledger.builds())
    for (const path of [cdnPath, configPath]) products.set(path, (products.get(path) ?? new Set()).add(product));
  const rows = [...sums]
    .sort(([, a], [, b]) => b.bytes - a.bytes)
    .map(
      ([path, { objects, bytes }]) =>
        html`<tr><th scope="row"><code>${path}</code></th><td>${[...(products.get(path) ?? ['no build'])].join(', ')}</td><td>${formatCount(objects)}</td><td>!${showBytes(bytes)}</td></tr>`,
    );
  return html`<section><h2>By product</h2><div class="wide" tabindex="0" role="region" aria-label="Space by product"><table><caption>Verified bytes by CDN path; products of one path share them</caption>
<thead><tr><th scope="col">CDN path</th><th scope="col">Products</th><th scope="col">Objects</th><th scope="col">Held</th></tr></thead><tbody>!${rows}</tbody></table></div></section>`;
}
