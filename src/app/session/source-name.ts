import { existsSync } from 'node:fs';
import { isInstall } from '../../installs/casc/find-install.ts';
import { isCdnFolder } from '../../installs/cdn-folder/find-cdn.ts';
import { isCalledPak } from '../../paks/index.ts';

/** A source as a person names it. */
export interface SourceName {
  scheme: 'tact' | 'pak' | 'casc' | 'cdn';
  /** The text behind the scheme. */
  rest: string;
}

/** An existing path is a path, anything else is a product; `tact:`, `pak:`, `casc:`, `cdn:` in front force the reading. */
export function parseSourceName(text: string): SourceName {
  const [, scheme, rest] = /^(tact|pak|casc|cdn):(.*)$/.exec(text) ?? [];
  if (scheme !== undefined && rest !== undefined) return { scheme: scheme as SourceName['scheme'], rest };
  return { scheme: existsSync(text) || looksLikePath(text) ? schemeOfPath(text) : 'tact', rest: text };
}

/** The scheme of a path; the build that is meant may stand behind it: `PATH@BUILD`. */
function schemeOfPath(text: string): 'pak' | 'casc' | 'cdn' {
  const path = existsSync(text) ? text : text.replace(/@[^@]*$/, '');
  if (isCdnFolder(path)) return 'cdn';
  return isInstall(path) ? 'casc' : 'pak';
}

/** A product has no slash in its name, and no ending. */
function looksLikePath(text: string): boolean {
  return /[/\\]/.test(text) || isCalledPak(text);
}

/** Takes `PATH[@BUILD]` apart: a path that exists is one, whatever is in it. */
export function splitChoice(text: string): { path: string; choice: string | undefined } {
  const at = text.lastIndexOf('@');
  if (at <= 0 || existsSync(text)) return { path: text, choice: undefined };
  return { path: text.slice(0, at), choice: text.slice(at + 1) };
}
