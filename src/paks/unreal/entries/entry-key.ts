import { aesBlockSize } from '../../../codecs/ciphers/aes.ts';
import { isPakratError } from '../../../core/errors.ts';
import { blockRanges, dataOffset, dataSize, placementProblem } from './entry-record.ts';
import { hasOwnChecksum } from './method-names.ts';
import { blockDecoder } from './methods.ts';
import { type EntryAccess, type EntryCipher, readEntry } from './read-entry.ts';

/** Entries that are tried at most before a key counts as untestable. */
const maxTrials = 64;
/** Larger entries are not read for a test. */
const maxTrialBytes = 1 << 20;
/** Bytes of padding from which on it is no accident that they repeat the start, or are zeros as other tools write them. */
const minPadding = 4;
const assetMagic = [0xc1, 0x83, 0x2a, 0x9e];

type CipherMaker = (access: EntryAccess, key: Uint8Array) => EntryCipher;

/**
 * The key that decrypts the entries of a PAK whose index is not encrypted. Each key is tried on entries whose
 * content shows whether it came out right: compressed ones by their checksum, others by the padding or by the magic of
 * an asset.
 * @param entries the encrypted ones
 * @returns undefined when no key fits, or several do as far as can be seen
 */
export async function findEntryKey(
  keys: readonly Uint8Array[],
  entries: readonly EntryAccess[],
  makeCipher: CipherMaker,
): Promise<Uint8Array | undefined> {
  const trials = entries.filter(({ record, source }) => {
    return record.storedSize > 0 && record.storedSize <= maxTrialBytes && !placementProblem(record, source.size);
  });
  const possible: Uint8Array[] = [];
  for (const key of keys) {
    const verdict = await tryKey(key, trials.slice(0, maxTrials), makeCipher);
    if (verdict === true) return key;
    if (verdict === undefined) possible.push(key);
  }
  return possible.length === 1 ? possible[0] : undefined;
}

/** True when the key is right, false when it is wrong, undefined when nothing tells. */
async function tryKey(
  key: Uint8Array,
  trials: readonly EntryAccess[],
  makeCipher: CipherMaker,
): Promise<boolean | undefined> {
  for (const trial of trials) {
    const cipher = makeCipher(trial, key);
    const verdict = hasOwnChecksum(trial.method)
      ? await decodes({ ...trial, cipher })
      : await looksRight(trial, cipher);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

async function decodes(access: EntryAccess): Promise<boolean> {
  try {
    await blockDecoder(access.method, access.oodle);
    for await (const _ of readEntry(access, { offset: 0, size: access.record.size }));
    return true;
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return false;
  }
}

/** Looks at the padding of the first block, or of the whole when it is not compressed. */
async function looksRight(access: EntryAccess, cipher: EntryCipher): Promise<true | undefined> {
  const { source, record, format } = access;
  const [block] = record.method === 0 ? [] : blockRanges(record, format);
  const start = block?.start ?? dataOffset(record);
  const size = block === undefined ? record.size : block.end - block.start;
  const padded = Math.min(Math.ceil(size / aesBlockSize) * aesBlockSize, dataSize(record));
  const plain = cipher(await source.read(start, padded), start - dataOffset(record));
  if (record.method === 0 && assetMagic.every((byte, i) => plain[i] === byte)) return true;
  const padding = plain.subarray(size);
  const isPadding = padding.every((byte, i) => byte === plain[i % size]) || padding.every((byte) => byte === 0);
  return padding.length >= minPadding && isPadding ? true : undefined;
}
