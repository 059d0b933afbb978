import { PakratError } from '../core/errors.ts';
import type { BuildRow } from '../store/ledger/ledger.ts';
import type { Store } from '../store/store.ts';
import type { GlobalOptions } from './global-options.ts';
import { parseBuildSpec, resolveBuild } from './resolve-build.ts';

/** A build as the ledger remembers it: what the services say now is of no interest. @throws E_NOT_FOUND */
export async function knownBuild(options: GlobalOptions, store: Store, text: string): Promise<BuildRow> {
  const spec = parseBuildSpec(text);
  if (store.ledger.builds(spec.product).length === 0) {
    throw new PakratError('E_NOT_FOUND', `the store has no build of ${spec.product}`, {
      hint: '`pakrat status` shows what it has.',
      data: { product: spec.product },
    });
  }
  const http = { get: (): Promise<never> => Promise.reject(new Error('asked while offline')) };
  const context = {
    ledger: store.ledger,
    options: { ...options, offline: true },
    note: () => {},
    signal: undefined,
    http,
  };
  const { product, buildConfig } = await resolveBuild(context, spec, { fresh: false });
  return store.ledger.builds(product).find((row) => row.buildConfig === buildConfig)!;
}
