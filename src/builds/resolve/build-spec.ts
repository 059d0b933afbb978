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

/** True when a build is called so: by its version name, its build id or its build config, whatever the case of that. */
export function isCalled(
  wanted: string,
  { name, buildId, buildConfig }: { name: string; buildId?: string | null | undefined; buildConfig: string },
): boolean {
  return wanted === name || wanted === buildId || wanted.toLowerCase() === buildConfig.toLowerCase();
}
