import { PakratError } from '../../core/errors.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import { parseBuildSpec } from './build-spec.ts';
import type { ResolveContext } from './product-answer.ts';
import { resolveBuild } from './resolve-build.ts';

/** A build as the ledger remembers it, whatever the services say now. @throws E_NOT_FOUND */
export async function knownBuild(
  { ledger, region }: Pick<ResolveContext, 'ledger' | 'region'>,
  text: string,
): Promise<BuildRow> {
  const spec = parseBuildSpec(text);
  const builds = ledger.builds(spec.product);
  if (builds.length > 0) {
    const context = { ledger, region, online: undefined, note: () => {} };
    const { buildConfig } = await resolveBuild(context, spec, { fresh: false });
    const row = builds.find((build) => build.buildConfig === buildConfig);
    if (row !== undefined) return row;
  }
  throw new PakratError('E_NOT_FOUND', `the store has no build of ${spec.product}`, {
    hint: '`pakrat status` shows what it has.',
    data: { product: spec.product },
  });
}
