import { PakratError } from '../../core/errors.ts';
import { isChannels } from './channels.ts';

/** A version service as the settings name it. */
export interface ServiceTemplate {
  /** `channels+http(s)://…`, `http(s)://…` with `{region}`, `{product}` and `{endpoint}`, or `ribbit://host[:port]` with `{region}`. */
  url: string;
  /** URLs that take its place in single regions. */
  regionUrls?: Record<string, string>;
}

/**
 * The services of a region, in the order in which to ask them. `patchUrls`, when there are any, replace them all:
 * a base `URL` is asked for `URL/PRODUCT/ENDPOINT`, `channels+URL` for `URL/summary`, `ribbit://HOST[:PORT]` over TCP. The texts keep `{product}` and `{endpoint}`.
 * @throws E_USAGE for a patch URL that is none
 */
export function serviceUrls(
  templates: readonly ServiceTemplate[],
  region: string,
  patchUrls: readonly string[] = [],
): string[] {
  if (patchUrls.length > 0) return patchUrls.map(patchService);
  return templates.map(({ url, regionUrls = {} }) => {
    const own = Object.hasOwn(regionUrls, region) ? regionUrls[region] : undefined;
    return own ?? url.replaceAll('{region}', region);
  });
}

function patchService(text: string): string {
  const base = text.trim().replace(/\/+$/, '');
  if (!/^((channels\+)?https?|ribbit):\/\/[^/]/i.test(base) || !URL.canParse(base)) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is not the URL of a version service`, {
      hint: 'Write it as http://HOST[:PORT]/PATH, https://…, channels+https://… or ribbit://HOST[:PORT].',
    });
  }
  return isRibbit(base) || isChannels(base) ? base : `${base}/{product}/{endpoint}`;
}

/** True for a service that is asked over TCP. */
export function isRibbit(service: string): boolean {
  return /^ribbit:/i.test(service);
}
