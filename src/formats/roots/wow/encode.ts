import { formatError } from '../../../core/errors.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { ContentFlags } from '../locale.ts';
import { ckeySize, hasHashes, hashSize, joinContentFlags, wowRootWhat } from './fields.ts';
import type { WowRootBlockContent, WowRootContent, WowRootForm, WowRootHeader, WowRootRow } from './layout.ts';

/** The split that real roots have: c3 holds bits 17 to 24, c2 those above, c1 those below. */
function splitContentFlags(flags: number): [number, number, number] {
  return [flags & 0x1ffff, (flags & 0xfe000000) >>> 0, (flags >>> 17) & 0xff];
}

/** The header with its counts, which are made where they are absent. */
function countedHeader(content: WowRootContent): WowRootHeader {
  const { form } = content;
  if (form === 'headerless') return { form };
  if (content.total !== undefined && content.named !== undefined) return content;
  let total = 0;
  let named = 0;
  for (const { rows, contentFlags } of content.blocks) {
    const hashed = (contentFlags & ContentFlags.noNameHash) === 0;
    for (const _ of rows) {
      total++;
      if (hashed) named++;
    }
  }
  return { form, total: content.total ?? total, named: content.named ?? named };
}

function writeHeader(writer: ByteWriter, { form, total = 0, named = 0 }: WowRootHeader): void {
  if (form === 'headerless') return;
  writer.text('TSFM');
  if (form !== 'tsfm0') writer.u32le(24).u32le(form === 'tsfm1' ? 1 : 2);
  writer.u32le(total).u32le(named);
  if (form !== 'tsfm0') writer.u32le(0);
}

function writeBlockHeader(writer: ByteWriter, form: WowRootForm, block: WowRootBlockContent, count: number): void {
  const { contentFlags, localeFlags } = block;
  writer.u32le(count);
  if (form !== 'tsfm2') {
    writer.u32le(contentFlags).u32le(localeFlags);
    return;
  }
  const parts = block.contentParts ?? splitContentFlags(contentFlags);
  if (joinContentFlags(parts) !== contentFlags) {
    throw formatError('E_FORMAT_RANGE', wowRootWhat, `content parts ${parts} do not make the flags ${contentFlags}`);
  }
  writer.u32le(localeFlags).u32le(parts[0]).u32le(parts[1]).u8(parts[2]);
}

function writeDeltas(writer: ByteWriter, rows: readonly WowRootRow[]): void {
  let before = -1;
  for (const { fileDataId } of rows) {
    if (!(Number.isInteger(fileDataId) && fileDataId > before && fileDataId <= 0xffffffff)) {
      throw formatError('E_FORMAT_RANGE', wowRootWhat, `file data id ${fileDataId} after ${before}: ids must ascend`);
    }
    writer.u32le(fileDataId - before - 1);
    before = fileDataId;
  }
}

function fixedBytes(bytes: Uint8Array, size: number, name: string): Uint8Array {
  if (bytes.length === size) return bytes;
  throw formatError('E_FORMAT_RANGE', wowRootWhat, `${name} of a wrong size`, { expected: size, found: bytes.length });
}

const noHash = new Uint8Array(hashSize);

/** A row without a hash gets zeros, where the form leaves no way to say "none". */
function hashBytes(row: WowRootRow, needed: boolean): Uint8Array {
  if (row.nameHash !== undefined) return fixedBytes(row.nameHash, hashSize, 'name hash').toReversed();
  if (!needed) return noHash;
  const problem = `file data id ${row.fileDataId} has no name hash, but its block is named`;
  throw formatError('E_FORMAT_RANGE', wowRootWhat, problem);
}

/**
 * Writes a WoW root, the mirror of {@link decodeWowRoot}.
 * @throws E_FORMAT_RANGE for ids that do not ascend, keys or hashes of a wrong size, a row without a hash in a named tsfm block
 */
export function encodeWowRoot(content: WowRootContent): Uint8Array {
  const { form } = content;
  const header = countedHeader(content);
  const writer = new ByteWriter(64 * 1024);
  writeHeader(writer, header);
  for (const block of content.blocks) {
    const rows = [...block.rows];
    writeBlockHeader(writer, form, block, rows.length);
    writeDeltas(writer, rows);
    const flagged = (block.contentFlags & ContentFlags.noNameHash) !== 0;
    const needed = form !== 'headerless' && !flagged;
    for (const row of rows) {
      writer.raw(fixedBytes(row.ckey, ckeySize, 'ckey'));
      if (form === 'headerless') writer.raw(hashBytes(row, needed));
    }
    if (form !== 'headerless' && hasHashes(header, block.contentFlags)) {
      for (const row of rows) writer.raw(hashBytes(row, needed));
    }
  }
  return writer.bytes();
}
