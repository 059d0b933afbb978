/*
 * From what people have to what the cipher takes.
 *
 *   base key (packlist.dat, key lists)   MD5 of its 32 hex digits in upper case + "NadeoPak"
 *   master-server key, 6 and above       two halves, swapped and reversed, xored with bytes 0-7 and 16-23
 *                                        of the contents' SHA-256
 *   header key, 6 and above              zeros, or the pack key when the header is private; xored with a constant
 *                                        when the default header key is used. With neither, the header is plain.
 *
 * (Mania Tech Wiki; the digest of the base key agrees for ten packs between two independent lists.)
 */
import { fromHex, toHex } from '../../../core/bytes.ts';
import { formatError, PakratError } from '../../../core/errors.ts';
import { md5 } from '../../../core/hash.ts';
import type { Packlist } from './packlist.ts';

/** Bytes of every key. */
export const keySize = 16;
const defaultHeaderKey = fromHex('56eecbbbdeb6bc90a17dfceb761d59ce');

/** Bits of the header flags of versions 6 and above. */
export const headerFlag = { isHeaderPrivate: 1, useDefaultHeaderKey: 2, isDataPrivate: 4, isImpostor: 8 } as const;

/** A key that may fit, as the cipher takes it. */
export interface KeyCandidate {
  kind: 'base key' | 'final key' | 'master-server key';
  /** Name of the pack it is listed for, when it came from a list. */
  packName?: string | undefined;
  key: Uint8Array;
}

/** A base key with the name of its pack, from packlist.dat or a key file. */
export interface NamedKey {
  /** Without ".pak". Not unique: games share names. */
  name: string;
  key: Uint8Array;
}

/** The pack key that belongs to a base key of 16 bytes. */
export function keyFromBase(baseKey: Uint8Array): Uint8Array {
  return md5(new TextEncoder().encode(`${toHex(baseKey).toUpperCase()}NadeoPak`));
}

/** The pack key that belongs to a key of the master server, with the 32 bytes of checksum in the pack's header. */
export function keyFromMasterServer(masterKey: Uint8Array, contentsChecksum: Uint8Array): Uint8Array {
  const key = new Uint8Array(keySize);
  for (let i = 0; i < 8; i++) {
    key[i] = masterKey[15 - i]! ^ contentsChecksum[i]!;
    key[i + 8] = masterKey[7 - i]! ^ contentsChecksum[i + 16]!;
  }
  return key;
}

/** The key of the header from version 6 on; undefined for a plain one. Only a private one takes the pack key. */
export function headerKey(headerFlags: number, packKey: Uint8Array | undefined): Uint8Array | undefined {
  const isPrivate = (headerFlags & headerFlag.isHeaderPrivate) !== 0;
  const usesDefault = (headerFlags & headerFlag.useDefaultHeaderKey) !== 0;
  if (!isPrivate && !usesDefault) return undefined;
  const base = isPrivate ? packKey : new Uint8Array(keySize);
  if (base === undefined) throw new PakratError('E_KEY_MISSING', 'the header is encrypted with the pack key');
  // A copy, whatever kind of array it is: the slice of a Buffer would be its own memory.
  const key = new Uint8Array(base);
  if (usesDefault) for (let i = 0; i < keySize; i++) key[i]! ^= defaultHeaderKey[i]!;
  return key;
}

/** The base keys of a list, those that could be read. */
export function packlistKeys(list: Packlist): NamedKey[] {
  return list.entries.flatMap(({ name, keyString }) =>
    keyString === undefined ? [] : [{ name, key: fromHex(keyString) }],
  );
}

/**
 * Decodes a key file: lines of a pack's name and 32 hex digits; empty lines and lines that start with # or // are
 * comments.
 * @throws E_FORMAT for any other line
 */
export function decodeKeyFile(text: string): NamedKey[] {
  const keys: NamedKey[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.trim().replace(/^\uFEFF/, '');
    if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith('//')) continue;
    const [, name, digits] = /^(\S.*?)[\s=:]+([0-9A-Fa-f]{32})$/.exec(trimmed) ?? [];
    if (name === undefined || digits === undefined) {
      throw formatError('E_FORMAT', 'key file', `line ${index + 1} is no name with 32 hex digits`);
    }
    keys.push({ name: withoutPackEnding(name), key: fromHex(digits) });
  }
  return keys;
}

/** A pack's file name as lists have it: without folders and ".pak" or ".Pack.Gbx". */
export function withoutPackEnding(fileName: string): string {
  return fileName.replace(/^.*[\\/]/, '').replace(/\.(pak|pack\.gbx)$/i, '');
}

/** Keys at hand. */
export interface KeyRing {
  keys?: readonly Uint8Array[] | undefined;
  namedKeys?: readonly NamedKey[] | undefined;
}

/**
 * Every pack key that may fit, in the order to try: named keys for this pack, keys without a name, then the other
 * named ones. Keys that cannot be Nadeo's (by length) are left out.
 * @param contentsChecksum SHA-256 of the header, for master-server keys; absent below version 6
 */
export function keyCandidates(ring: KeyRing, packName: string, contentsChecksum?: Uint8Array): KeyCandidate[] {
  const candidates: KeyCandidate[] = [];
  const wanted = withoutPackEnding(packName).toLowerCase();
  const isWanted = ({ name }: NamedKey) => withoutPackEnding(name).toLowerCase() === wanted;
  const addNamed = ({ name, key }: NamedKey) => {
    if (key.length === keySize) candidates.push({ kind: 'base key', packName: name, key: keyFromBase(key) });
  };
  const named = ring.namedKeys ?? [];
  for (const entry of named) if (isWanted(entry)) addNamed(entry);
  for (const given of ring.keys ?? []) {
    const key = rawKey(given);
    if (key === undefined) continue;
    candidates.push({ kind: 'base key', key: keyFromBase(key) }, { kind: 'final key', key });
    if (contentsChecksum !== undefined) {
      candidates.push({ kind: 'master-server key', key: keyFromMasterServer(key, contentsChecksum) });
    }
  }
  for (const entry of named) if (!isWanted(entry)) addNamed(entry);
  return candidates;
}

/** 16 bytes as they are, or as the 32 hex digits of a key string; anything else is no key of Nadeo's. */
function rawKey(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length === keySize) return bytes;
  const text = bytes.length === keySize * 2 ? String.fromCharCode(...bytes) : '';
  return /^[0-9A-Fa-f]{32}$/.test(text) ? fromHex(text) : undefined;
}
