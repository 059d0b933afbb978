import { PakratError } from '../../core/errors.ts';

/**
 * The URL of a list that is to be fetched.
 * @param list.what `keys` or `listfile`: the command and the group of settings
 * @throws E_USAGE when there is none, for what is no http or https URL, and offline
 */
export function listUrl(text: string, { what, offline }: { what: 'keys' | 'listfile'; offline: boolean }): string {
  if (text === '') {
    throw new PakratError('E_USAGE', `no list of ${what === 'keys' ? 'keys' : 'names'} is set`, {
      hint: `Name one with --url, or set ${what}.url in the file that PAKRAT_CONFIG names.`,
    });
  }
  const importFile = `\`pakrat ${what} import FILE\``;
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no http or https URL`, {
      hint: `A file is read by ${importFile}.`,
    });
  }
  if (offline) {
    throw new PakratError('E_USAGE', `${what} update fetches, and --offline forbids that`, {
      hint: `Leave --offline away, or import a file: ${importFile}.`,
    });
  }
  return text;
}
