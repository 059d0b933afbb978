import { PakratError } from '../../core/errors.ts';

/** A build as a person names it: `PRODUCT` or `PRODUCT@BUILD`. */
export interface BuildSpec {
  product: string;
  /** Version name, build id or build config; undefined for the live build. */
  build: string | undefined;
}

/** Takes `PRODUCT[@BUILD]` apart. @throws E_USAGE when it is neither */
export function parseBuildSpec(text: string): BuildSpec {
  const [, product, build] = /^([\w.-]+)(?:@([\w.-]+))?$/.exec(text) ?? [];
  if (product === undefined) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no product`, {
      hint: 'Write PRODUCT or PRODUCT@BUILD, such as wow_classic_era@1.15.7.61582; or a path that exists.',
    });
  }
  return { product, build };
}

/** What people have seen of a build, and call it by. */
export interface BuildNames {
  /** Version name. */
  name: string;
  buildId?: string | null | undefined;
  buildConfig: string;
  /** `build-name` of its config, where that is at hand. */
  buildName?: string | undefined;
}

/** Digits of a build config that are enough to name it, where no other begins so. */
const leastDigits = 4;

/** True when a build is called so: by its version name, its build id, its build-name or its build config, whatever their case. */
export function isCalled(wanted: string, { name, buildId, buildConfig, buildName }: BuildNames): boolean {
  const text = wanted.toLowerCase();
  const ofConfig = buildName === undefined ? undefined : versionOfBuildName(buildName);
  const names = [name, buildId, buildConfig, buildName, ofConfig?.name, ofConfig?.buildId];
  return names.some((known) => known !== '' && known?.toLowerCase() === text);
}

/**
 * The builds that are called so; where none is, those whose build config begins so.
 * @throws E_USAGE when these are several
 */
export function findCalled<Build>(
  wanted: string,
  builds: readonly Build[],
  namesOf: (build: Build) => BuildNames,
): Build | undefined {
  const called = builds.find((build) => isCalled(wanted, namesOf(build)));
  const digits = wanted.toLowerCase();
  if (called !== undefined || digits.length < leastDigits) return called;
  const begun = builds.filter((build) => namesOf(build).buildConfig.toLowerCase().startsWith(digits));
  const configs = new Set(begun.map((build) => namesOf(build).buildConfig));
  if (configs.size < 2) return begun[0];
  const names = [...configs].slice(0, mostNamed).join(', ');
  throw new PakratError('E_USAGE', `${configs.size} build configs begin with ${wanted}`, {
    hint: `Give more digits: ${names}.`,
    data: { build: wanted, known: [...configs] },
  });
}

const mostNamed = 8;

/** Version name and build id as a build-name has them: `WOW-65989patch1.15.8_ClassicRetail`. Undefined for one of another form. */
export function versionOfBuildName(buildName: string): { name: string; buildId: string } | undefined {
  const [, buildId, version] = /^[A-Za-z]\w*-(\d+)patch(\d+(?:\.\d+)*)_/.exec(buildName) ?? [];
  return buildId === undefined ? undefined : { name: `${version}.${buildId}`, buildId };
}
