import { aesBlockSize, alignToBlock } from '../../../codecs/ciphers/aes.ts';
import { concatBytes, toHex } from '../../../core/bytes.ts';
import { codeOf, isPakratError } from '../../../core/errors.ts';
import { Scratch } from '../../../files/scratch.ts';
import { blockRanges, dataOffset, dataSize, placementProblem } from './entry-record.ts';
import { hasOwnChecksum } from './method-names.ts';
import { isFilling } from './padding.ts';
import { type EntryAccess, type EntryCipher, readEntry } from './read-entry.ts';
import { verifyEntry } from './verify-entry.ts';

/** Entries that a key is tried on at most, and that are looked at to find them. */
const maxTrials = 64;
const maxCandidates = 256;
/** A larger entry is not read for a test, unless there is no smaller one. */
const maxTrialBytes = 1 << 20;
/** Bytes of padding from which on it is no accident that they repeat the start, or are zeros as other tools write them. */
const minPadding = 4;
/** Decrypted bytes of an entry that are looked at. */
const sampleSize = 4096;
const startSize = 64;
/** Bytes are no accident of a wrong key when fewer than one in 2 to the power of this look so. */
const proofBits = 40;
const assetMagic = [0xc1, 0x83, 0x2a, 0x9e];

type CipherMaker = (access: EntryAccess, key: Uint8Array) => EntryCipher;

/** The key of the entries of a PAK, as far as the PAK tells. */
export interface KeyChoice {
  /** Undefined when none fits, or several may. */
  key: Uint8Array | undefined;
  /** True when an entry shows that it came out right. */
  isProven: boolean;
  /** Keys that may be the right one. */
  possible: number;
}

/**
 * The key that decrypts the entries of a PAK whose index is not encrypted. Their SHA-1 is over the encrypted bytes and
 * says nothing of a key, so each is tried on entries whose stored bytes are whole: what is compressed shows by its
 * checksum whether it came out right, the rest by its padding, the magic of an asset, or bytes that are not evenly spread.
 * @param entries the encrypted ones
 */
export async function findEntryKey(
  keys: readonly Uint8Array[],
  entries: readonly EntryAccess[],
  makeCipher: CipherMaker,
): Promise<KeyChoice> {
  const trials = keys.length === 0 ? [] : await chooseTrials(entries);
  const possible: Uint8Array[] = [];
  for (const key of keys) {
    const verdict = await tryKey(key, trials, makeCipher);
    if (verdict === true) return { key, isProven: true, possible: 1 };
    if (verdict === undefined) possible.push(key);
  }
  return { key: possible.length === 1 ? possible[0] : undefined, isProven: false, possible: possible.length };
}

/** Entries that are as they were stored: damage must not count against a key. Those that tell the most come first. */
async function chooseTrials(entries: readonly EntryAccess[]): Promise<EntryAccess[]> {
  const placed = entries.filter(({ record, source }) => record.size > 0 && !placementProblem(record, source.size));
  const small = placed.filter(({ record }) => record.storedSize <= maxTrialBytes);
  const telling = ({ record, row }: EntryAccess): boolean =>
    hasOwnChecksum(row.method) || dataSize(record) - record.storedSize >= minPadding;
  const smallest = placed.reduce<EntryAccess[]>((least, entry) => {
    return least[0] === undefined || entry.record.storedSize < least[0].record.storedSize ? [entry] : least;
  }, []);
  const candidates =
    small.length === 0 ? smallest : [...small.filter(telling), ...small.filter((one) => !telling(one))];
  const trials: EntryAccess[] = [];
  const scratch = new Scratch();
  for (const candidate of candidates.slice(0, maxCandidates)) {
    if (trials.length === maxTrials) break;
    if (await isWhole(candidate, scratch)) trials.push(candidate);
  }
  return trials;
}

async function isWhole(access: EntryAccess, scratch: Scratch): Promise<boolean> {
  try {
    await verifyEntry(access, scratch);
    return true;
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return false;
  }
}

/** True when the key is right, false when it is wrong, undefined when nothing tells. */
async function tryKey(
  key: Uint8Array,
  trials: readonly EntryAccess[],
  makeCipher: CipherMaker,
): Promise<boolean | undefined> {
  const starts: Uint8Array[] = [];
  let isWrong = false;
  for (const trial of trials) {
    const cipher = makeCipher(trial, key);
    const verdict = hasOwnChecksum(trial.row.method)
      ? await decodes({ ...trial, cipher })
      : await looksRight(trial, cipher, starts);
    if (verdict === true) return true;
    isWrong ||= verdict === false;
  }
  if (isNoAccident(concatBytes(starts))) return true;
  return isWrong ? false : undefined;
}

/** Decodes the first block. */
async function decodes(access: EntryAccess): Promise<boolean | undefined> {
  try {
    for await (const _ of readEntry(access, { offset: 0, size: 1 }));
    return true;
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return codeOf(error) === 'E_UNSUPPORTED' ? undefined : false;
  }
}

/**
 * Looks at the bytes of an entry that is not compressed, and at the padding of that or of a first block.
 * @param starts gets the first bytes: those of many entries may tell what those of one do not
 */
async function looksRight(
  access: EntryAccess,
  cipher: EntryCipher,
  starts: Uint8Array[],
): Promise<boolean | undefined> {
  const { source, record, format } = access;
  const [block] = record.method === 0 ? [] : blockRanges(record, format);
  const start = block?.start ?? dataOffset(record);
  const size = block === undefined ? record.size : block.end - block.start;
  const end = Math.min(alignToBlock(size), dataSize(record));
  if (end <= 0 || end < size) return undefined;
  const decrypt = async (at: number, count: number): Promise<Uint8Array> =>
    cipher(await source.read(start + at, count), start + at - dataOffset(record));
  const head = (await decrypt(0, Math.min(end, sampleSize))).subarray(0, size);
  if (record.method === 0) {
    const hasMagic = assetMagic.every((byte, i) => head[i] === byte);
    if (hasMagic || isNoAccident(head.subarray(0, startSize)) || isNoAccident(head)) return true;
    starts.push(head.slice(0, startSize));
  }
  const lastBlock = await decrypt(end - aesBlockSize, aesBlockSize);
  const padding = lastBlock.subarray(size - (end - aesBlockSize));
  if (padding.length < minPadding) return undefined;
  return isFilling(padding, head);
}

/**
 * True for bytes that a wrong key does not give: those are spread evenly, whatever they were before. Blocks that are the
 * same count once, for in AES-ECB a wrong key repeats what was repeated.
 */
function isNoAccident(bytes: Uint8Array): boolean {
  const counts = new Uint32Array(256);
  const seen = new Set<string>();
  let total = 0;
  let isText = true;
  for (let at = 0; at < bytes.length; at += aesBlockSize) {
    const block = bytes.subarray(at, at + aesBlockSize);
    const name = toHex(block);
    if (seen.has(name)) continue;
    seen.add(name);
    total += block.length;
    for (const byte of block) {
      counts[byte]! += 1;
      isText &&= byte < 0x80;
    }
  }
  const most = Math.max(...counts);
  if (isText && total >= proofBits) return true;
  // One of 256 values comes so often by chance with less than 256 (e n / 256 k)^k.
  return most > 0 && 8 + most * Math.log2((Math.E * total) / (256 * most)) < -proofBits;
}
