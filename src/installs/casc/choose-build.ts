import { PakratError } from '../../core/errors.ts';
import type { InstalledBuild } from '../../formats/local/build-info.ts';

/**
 * The build of an installation that is meant: the one that `choice` names by product, branch, version or build config, else the active one.
 * @throws E_NOT_FOUND when none has that name, E_USAGE when several are meant; both say which there are
 */
export function chooseBuild(
  builds: readonly InstalledBuild[],
  choice: string | undefined,
  path: string,
): InstalledBuild {
  const fitting = choice === undefined ? builds : builds.filter((build) => isNamed(build, choice));
  const active = fitting.filter((build) => build.active);
  const meant = active.length > 0 ? active : fitting;
  const names = [...new Set(builds.map(buildName))];
  const data = { path, choice, known: names };
  const [first] = meant;
  if (first === undefined) {
    const problem = choice === undefined ? 'names no build' : `names no build ${choice}`;
    const hint = names.length === 0 ? undefined : `It has ${names.join(', ')}.`;
    throw new PakratError('E_NOT_FOUND', `the .build.info of ${path} ${problem}`, { hint, data });
  }
  if (new Set(meant.map(({ buildKey }) => buildKey)).size === 1) return first;
  throw new PakratError('E_USAGE', `${path} holds several builds: ${names.join(', ')}`, {
    hint: `Say which: ${path}@${shortName(first, meant)}.`,
    data,
  });
}

function isNamed(build: InstalledBuild, choice: string): boolean {
  const { product, branch, version, buildKey } = build;
  return [product, branch, version, buildKey].some((name) => name?.toLowerCase() === choice.toLowerCase());
}

/** The name of an installed build: product, branch and version. */
export function buildName({ product, branch, version, buildKey }: InstalledBuild): string {
  return [product, branch, version ?? buildKey].filter(Boolean).join(' ');
}

/** The shortest name of a build that no other one has. */
function shortName(build: InstalledBuild, others: readonly InstalledBuild[]): string {
  const names = [build.product, build.branch, build.version].filter((name) => name !== undefined);
  const unique = names.find((name) => others.every((other) => other === build || !isNamed(other, name)));
  return unique ?? build.buildKey;
}
