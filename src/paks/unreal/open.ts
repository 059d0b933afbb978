import type { ByteSource } from '../../core/byte-source.ts';
import { codeOf, formatError, isPakratError, type PakratError } from '../../core/errors.ts';
import { nameDecoder } from '../names.ts';
import { decodeFooter, maxFooterSize } from './footer.ts';
import type { EncodedFormat } from './index/encoded-entry.ts';
import { IndexOpener } from './index/open-index.ts';
import { aesKeys } from './keys.ts';
import type { OpenedIndex, SharedIndex, UnrealParts } from './opened-index.ts';
import type { UnrealOptions } from './options.ts';
import { UnrealPak } from './unreal-pak.ts';

const pathHashVersion = 10;
/** A primary index that is larger stays in the file: one of more than a million entries. Rows name these in any order, so it is a burden to read them there. */
const keptEntryBytes = 32 << 20;

/**
 * Opens an Unreal PAK: reads the footer and the index, and nothing else. An encrypted index that no key opens gives a
 * PAK whose entries cannot be asked, but whose facts can.
 * @param shared the index as another thread opened it, with the same options: then it is not read
 * @throws E_FORMAT… for damage, E_INTEGRITY for an index with another SHA-1, E_UNSUPPORTED
 */
export async function openUnrealPak(
  source: ByteSource,
  options: UnrealOptions = {},
  shared?: SharedIndex,
): Promise<UnrealPak> {
  const size = Math.min(source.size, maxFooterSize);
  const footer = decodeFooter(await source.read(source.size - size, size), source.size, options);
  const format: EncodedFormat = {
    version: footer.version,
    hasByteMethod: footer.label === '8A',
    hasIvs: footer.encryption === 'AES-256-CTR',
  };
  const parts = { source, footer, format, options };
  const index = shared === undefined ? await readIndex(parts).catch(whenLocked) : await takeIndex(shared, parts);
  return new UnrealPak({ ...parts, index });
}

function whenLocked(error: unknown): PakratError {
  if (codeOf(error) === 'E_KEY_MISSING' && isPakratError(error)) return error;
  throw error;
}

async function readIndex({ source, footer, format, options }: Omit<UnrealParts, 'index'>): Promise<OpenedIndex> {
  const keys = aesKeys(options.keys);
  const opener = new IndexOpener({ source, footer, keys, ignoreHashes: options.ignoreHashes === true });
  const decodeName = nameDecoder(options.encoding);
  const { indexOffset, indexSize, indexHash } = footer;
  const range = { offset: indexOffset, size: indexSize, hash: indexHash };
  const opened = () => ({
    seed: 0n,
    findRow: undefined,
    problems: opener.problems,
    key: opener.key,
    readRest: async () => {},
  });
  // Each form is loaded for the PAKs that have it: a PAK has one.
  if (footer.isFrozen) {
    const { decodeFrozenIndex } = await import('./index/frozen-index.ts');
    const index = decodeFrozenIndex(await opener.read(range, 0), format);
    return { ...opened(), ...index };
  }
  if (footer.version < pathHashVersion) {
    const { decodeLegacyIndex } = await import('./index/legacy-index.ts');
    const index = decodeLegacyIndex(await opener.readOrLeave(range, 0), source, { format, decodeName });
    return { ...opened(), ...index };
  }
  const { decodePrimaryIndex, decodePathHashPart, decodeDirectoryPart } = await import('./index/primary-index.ts');
  const entries = await opener.readOrLeave(range, 0, keptEntryBytes);
  const index = decodePrimaryIndex(entries, source, { format, decodeName });
  const parts = { index, format, decodeName };
  const { directory, pathHashes, seed } = index;
  if (directory !== undefined) {
    const readRest = async () => void (pathHashes && (await opener.readOrLeave(pathHashes, 1)));
    const rows = decodeDirectoryPart(await opener.readOrLeave(directory, 2), source, parts);
    return { ...opened(), seed, readRest, ...rows };
  }
  if (pathHashes === undefined) throw formatError('E_FORMAT', 'Unreal PAK index', 'neither names nor path hashes');
  return { ...opened(), seed, ...decodePathHashPart(await opener.read(pathHashes, 1), parts) };
}

/** The index that another thread has opened. */
async function takeIndex(
  shared: SharedIndex,
  { source, format, options }: Pick<UnrealParts, 'source' | 'format' | 'options'>,
): Promise<OpenedIndex> {
  const { rowsOf } = await import('./index/rows/rows-of.ts');
  const rows = rowsOf(shared.rows, source, { format, decodeName: nameDecoder(options.encoding) });
  return { ...shared, rows, findRow: undefined, problems: [], readRest: async () => {} };
}
