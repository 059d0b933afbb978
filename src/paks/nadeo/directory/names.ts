/*
 * Hashed file names. A pack may store, instead of a file's path below one of its folders, 34 hex digits of 17 bytes,
 * each byte with its low digit first and in upper case:
 *
 *   byte 0        length of the path in bytes, modulo 256
 *   bytes 1-16    MD5 of the path
 *
 * The path is relative to the folder in which the entry stands, in lower case, with backslashes, in UTF-8.
 * "321Go.Texture.gbx" is 1110CD518E489B235DDE849F3CC6B147F2. (Checked on 40,715 known names.)
 */
import { formatError } from '../../../core/errors.ts';
import { md5 } from '../../../core/hash.ts';

const utf8Encoder = new TextEncoder();
/** No path of a game is nested deeper; one from outside must not cost a hash for each of its letters. */
const maxTails = 24;
const hashPattern = /^[0-9A-F]{34}$/;

/** True for a stored name that has the form of a hash. */
export function isHashedName(name: string): boolean {
  return hashPattern.test(name);
}

/** The hashed form of a path (with either slash) that is relative to the folder of the entry. */
export function hashedName(path: string): string {
  const bytes = utf8Encoder.encode(storedPath(path).toLowerCase());
  let text = lowDigitFirst(bytes.length & 0xff);
  for (const byte of md5(bytes)) text += lowDigitFirst(byte);
  return text;
}

/** A path as packs have it: backslashes, none at the start. */
export function storedPath(path: string): string {
  return path.replaceAll('/', '\\').replace(/^\\+/, '');
}

/** The path itself and what is left of it below each of its first folders: all that a hash of it may stand for. */
export function pathTails(path: string): string[] {
  const whole = storedPath(path);
  const tails = [whole];
  for (let at = whole.indexOf('\\'); at >= 0 && tails.length < maxTails; at = whole.indexOf('\\', at + 1)) {
    tails.push(whole.slice(at + 1));
  }
  return tails.filter((tail) => tail !== '');
}

/** Real names by hash: what was imported, and what was found by scanning. */
export class NameBook {
  readonly #names = new Map<string, string>();

  /** Number of hashes with a name. */
  get size(): number {
    return this.#names.size;
  }

  /** Adds a path and its tails. The first name for a hash stays. @returns how many hashes that took */
  add(path: string): number {
    const tails = pathTails(path);
    for (const tail of tails) {
      const hash = hashedName(tail);
      if (!this.#names.has(hash)) this.#names.set(hash, tail);
    }
    return tails.length;
  }

  /** The path behind a hash, relative to the folder of the entry, or undefined. */
  find(hash: string): string | undefined {
    return this.#names.get(hash);
  }
}

/**
 * Decodes a list of names: a path per line, or a hash, a blank and the path that it stands for; # starts a comment.
 * @throws E_FORMAT for a hash that is not the hash of its path
 */
export function decodeNameList(text: string): string[] {
  const names: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.replace(/^\uFEFF/, '').trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [, hash, name = trimmed] = /^([0-9A-F]{34})\s+(\S.*)$/.exec(trimmed) ?? [];
    if (hash !== undefined && hash !== hashedName(name)) {
      throw formatError('E_FORMAT', 'name list', `line ${index + 1}: the hash is not that of its name`);
    }
    names.push(name);
  }
  return names;
}

/** File names in a script of ManiaPlanet: what it includes, extends, names as a script, shows or links to. */
export function scriptReferences(text: string): string[] {
  const found = new Set<string>();
  const patterns = [
    /#(?:Include|Extends)\s+"([^"\r\n]{1,300})"/g,
    /#Const\s+\w*ScriptName\s+"([^"\r\n]{1,300})"/g,
    /\b(?:name|url|image|file|src)\s*=\s*\\?["']([^"'\r\n]{1,300})["']/g,
  ];
  for (const pattern of patterns) {
    for (const [, path = ''] of text.matchAll(pattern)) found.add(cleanReference(path));
  }
  return [...found].filter((path) => path !== '');
}

function cleanReference(path: string): string {
  return storedPath(path.replace(/^file:\/\//i, '').replace(/\\$/, ''));
}

function lowDigitFirst(byte: number): string {
  return ((byte & 15).toString(16) + (byte >>> 4).toString(16)).toUpperCase();
}
