import { learnObjectKey } from '../../builds/keys/build-keys.ts';
import { parseBuildSpec } from '../../builds/resolve/build-spec.ts';
import { keepPreloads } from '../../builds/resolve/keep-preloads.ts';
import { listBuilds } from '../../builds/resolve/list-builds.ts';
import type { ResolvedBuild } from '../../builds/resolve/resolve-build.ts';
import { isDamage, isUnavailable, PakratError, valueUnless } from '../../core/errors.ts';
import type { WorkOptions } from '../../core/progress.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import type { Session } from './session.ts';

/** The number of a product's newest builds that are meant, or all that are known. */
export type BuildCount = number | 'all';

/** Demands that names are products, of which builds are counted. @throws E_USAGE for a name that is none or names one build, and a count that is none */
export function demandProducts(names: readonly string[], count: BuildCount): void {
  if (count !== 'all' && !(Number.isInteger(count) && count > 0))
    throw new PakratError('E_USAGE', `${count} is no number of builds`);
  for (const name of names) {
    const { product, build } = parseBuildSpec(name);
    if (build === undefined) continue;
    throw new PakratError('E_USAGE', `${name} is one build, and --builds takes several of a product`, {
      hint: `Write ${product}, or leave --builds away.`,
    });
  }
}

/** The newest builds of a product, of all that anything tells of, the newest first. @throws as listBuilds, E_USAGE */
export async function findBuilds(
  session: Session,
  product: string,
  count: BuildCount,
  work: WorkOptions,
): Promise<ResolvedBuild[]> {
  const context = await session.resolveContext({ ...work, create: true });
  await keepPreloads(context, product);
  const builds = await listBuilds(context, product, (identity, mayFetch) =>
    readCdnConfig(session, identity, { ...work, mayFetch }),
  );
  return count === 'all' ? builds : builds.slice(0, count);
}

async function readCdnConfig(
  session: Session,
  identity: BuildIdentity,
  { mayFetch, ...work }: WorkOptions & { mayFetch: boolean },
): Promise<Uint8Array | undefined> {
  const { cdnPath, cdnConfig: hash } = identity;
  const name = { cdnPath, kind: 'config', hash } as const;
  const store = await session.store({ create: false });
  if (!mayFetch) return valueUnless(isLacking, (async () => store.readObject(name))());
  const { fetcher, close } = await session.connect(identity, work);
  try {
    const objects = fetcher.objects();
    await learnObjectKey({ identity, objects });
    return await valueUnless(isLacking, objects.config(name));
  } finally {
    await close();
  }
}

/** True where a CDN config cannot be had: builds that it names are not known then, and its own says why when it is opened. */
function isLacking(error: unknown): boolean {
  return isUnavailable(error) || isDamage(error);
}
