import { knownBuild } from '../../builds/resolve/resolve-build.ts';
import { PakratError } from '../../core/errors.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import type { Session } from './session.ts';

/**
 * The builds of the store that some names mean. Nobody is asked.
 * @param options.demandBuild a product alone is not enough
 * @throws E_NOT_FOUND when the store does not know one, E_USAGE for a name that several have
 */
export async function findRows(
  session: Session,
  names: readonly string[],
  { demandBuild }: { demandBuild: boolean },
): Promise<BuildRow[]> {
  const known = await session.knownBuilds();
  return names.map((name) => {
    const spec = name.replace(/^tact:/, '');
    if (demandBuild && !spec.includes('@')) {
      throw new PakratError('E_USAGE', `${name} names no build`, {
        hint: `Write ${spec}@BUILD; \`pakrat status\` shows those that the store holds.`,
      });
    }
    return knownBuild(known, spec);
  });
}
