import { PakratError } from '../../core/errors.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import { parseBuildSpec } from './build-spec.ts';
import type { ResolveContext } from './product-answer.ts';
import { heldBuild } from './resolve-build.ts';

/** A build as the ledger remembers it, whatever the services say now. @throws E_NOT_FOUND */
export function knownBuild(context: Pick<ResolveContext, 'ledger' | 'region'>, text: string): BuildRow {
  const spec = parseBuildSpec(text);
  const builds = context.ledger.builds(spec.product);
  if (builds.length > 0) return heldBuild(context, spec, builds);
  throw new PakratError('E_NOT_FOUND', `the store has no build of ${spec.product}`, {
    hint: '`pakrat status` shows what it has.',
    data: { product: spec.product },
  });
}
