import type { Session } from '../../app/session/session.ts';
import { PakratError } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';
import type { ServeOptions } from '../serving.ts';
import type { PullThrough } from './pull-through.ts';

/** What fetches that which a served store does not have; undefined where nothing is to be fetched. @throws E_USAGE where nothing can be */
export async function openPull(
  session: Session,
  store: Store,
  { pullThrough, maxBytes, onProgress }: ServeOptions,
  onBuild: () => void,
): Promise<PullThrough | undefined> {
  if (pullThrough !== true && maxBytes !== undefined)
    throw new PakratError('E_USAGE', '--max-size is for what --pull-through keeps', {
      hint: 'Add --pull-through; `pakrat gc --max-size` makes a store smaller.',
    });
  if (pullThrough !== true) return undefined;
  if (session.options.offline) throw new PakratError('E_USAGE', '--pull-through fetches, and --offline forbids it');
  if (!store.writable)
    throw new PakratError(
      'E_USAGE',
      `--pull-through keeps what it fetches, and ${store.layout.root} cannot be written`,
    );
  const { PullThrough } = await import('./pull-through.ts');
  return new PullThrough(session, store, { onProgress, onBuild, maxBytes });
}
