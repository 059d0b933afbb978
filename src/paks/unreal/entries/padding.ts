import { aesBlockSize, alignToBlock } from '../../../codecs/ciphers/aes.ts';
import { isAllZero } from '../../../core/bytes.ts';
import { dataOffset } from './entry-record.ts';
import type { EntryAccess } from './read-entry.ts';

/**
 * True for an encrypted entry whose last block is filled as writers fill it: with what the content begins with, over and over (UnrealPak), or with zeros.
 * The SHA-1 of an entry that is not compressed leaves out what fills it, and with ECB a change there changes the end of the content. Seeing that the
 * filling is still right, its reader knows that the block is. Other entries, and those that no cipher is at hand for, have nothing to be looked at.
 */
export async function isFilledAsWritten({ source, record, cipher }: EntryAccess): Promise<boolean> {
  const filled = record.size % aesBlockSize;
  if (cipher === undefined || record.method !== 0 || filled === 0) return true;
  const blockAt = async (position: number): Promise<Uint8Array> =>
    cipher(await source.read(dataOffset(record) + position, aesBlockSize), position);
  const start = (await blockAt(0)).subarray(0, record.size);
  return isFilling((await blockAt(alignToBlock(record.size) - aesBlockSize)).subarray(filled), start);
}

/** True for bytes that writers fill a last block with. @param start the first bytes of what is encrypted */
export function isFilling(bytes: Uint8Array, start: Uint8Array): boolean {
  return isAllZero(bytes) || bytes.every((byte, i) => byte === start[i % start.length]);
}
