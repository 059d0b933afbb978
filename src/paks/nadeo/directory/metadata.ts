/*
 * The metadata section at the end of a NadeoPak: the headers of GBX files, so that they need not be opened.
 *
 *   compressed, then encrypted; zlib below version 18, LZ4 blocks in the game's own packs of version 18:
 *     entries   file index u32 (into the files of the header) · dataless GBX: the start of a GBX, up to its node count
 *     end       i32 -1
 *
 * The compressed bytes are filled up with zeros to a multiple of 256 before they are encrypted, or the game does not
 * read the rest; the header has their number without that. (Mania Tech Wiki, PAK)
 */
import { inflate } from '../../../codecs/compression/inflate.ts';
import { concatBytes } from '../../../core/bytes.ts';
import { formatError, isPakratError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { packCipherKey } from '../entries/cipher-stream.ts';
import type { EntryContext } from '../entries/entry-reader.ts';
import { Lz4Blocks } from '../entries/lz4-blocks.ts';
import { PlainRegion, type RegionCipher } from '../entries/plain-region.ts';
import { datalessGbxSize } from '../gbx/gbx-header.ts';
import type { PrivateHeader } from '../header/private-header.ts';

/** Bytes that the stored section is a multiple of. */
export const metadataStep = 0x100;
const maxMetadataBytes = 64 << 20;
const what = 'NadeoPak metadata';

/** The start of a GBX file of the pack, up to its node count. */
export interface MetadataEntry {
  /** Index of the file that it belongs to. */
  fileIndex: number;
  /** A dataless GBX. */
  gbx: Uint8Array;
}

/**
 * Decodes the inflated section. An index outside the files ends it, as it does for the game.
 * @throws E_FORMAT_TRUNCATED, E_FORMAT_MAGIC, E_FORMAT_VERSION
 */
export function decodeMetadata(bytes: Uint8Array, fileCount: number): MetadataEntry[] {
  const reader = new ByteReader(bytes, what);
  const entries: MetadataEntry[] = [];
  for (;;) {
    const fileIndex = reader.i32le();
    if (fileIndex < 0 || fileIndex >= fileCount) return entries;
    const gbx = reader.take(datalessGbxSize(bytes.subarray(reader.pos)));
    entries.push({ fileIndex, gbx });
  }
}

/** The mirror of {@link decodeMetadata}. */
export function encodeMetadata(entries: readonly MetadataEntry[]): Uint8Array {
  const writer = new ByteWriter();
  for (const { fileIndex, gbx } of entries) writer.u32le(fileIndex).raw(gbx);
  return writer.i32le(-1).bytes();
}

/**
 * Reads the metadata of a pack.
 * @param headerKey what the header is encrypted with, if it is: version 18 of the game uses it here too
 * @throws E_KEY_MISSING, E_FORMAT...
 */
export async function readMetadata(
  context: EntryContext,
  header: PrivateHeader,
  headerKey: Uint8Array | undefined,
): Promise<MetadataEntry[]> {
  if (header.metadataStoredSize === 0) return [];
  if (header.metadataSize > maxMetadataBytes) {
    const facts = { expected: `at most ${maxMetadataBytes}` };
    throw formatError('E_FORMAT_RANGE', what, `${header.metadataSize} bytes`, facts);
  }
  let first: unknown;
  for (const attempt of metadataForms(context, headerKey)) {
    try {
      return decodeMetadata(await readForm(context, header, attempt), header.files.length);
    } catch (error) {
      if (!isPakratError(error)) throw error;
      first ??= error;
    }
  }
  throw first;
}

interface MetadataForm {
  cipher: RegionCipher | undefined;
  isLz4: boolean;
}

/** The ways in which the section may be stored, the documented one first. */
function metadataForms({ version, key }: EntryContext, headerKey: Uint8Array | undefined): MetadataForm[] {
  const packCipher = key === undefined ? undefined : { key, version };
  if (version < 18) return [{ cipher: packCipher, isLz4: false }];
  const headerCipher = headerKey === undefined ? undefined : { key: packCipherKey(headerKey, version), version };
  return [packCipher, headerCipher].flatMap((cipher) => [
    { cipher, isLz4: false },
    { cipher, isLz4: true },
  ]);
}

async function readForm(
  { source, dictionary }: EntryContext,
  header: PrivateHeader,
  { cipher, isLz4 }: MetadataForm,
): Promise<Uint8Array> {
  const region = new PlainRegion(source, { offset: header.metadataOffset, size: header.metadataStoredSize, cipher });
  if (!isLz4) {
    const stored = await region.take(header.metadataStoredSize);
    return inflate(stored, { size: header.metadataSize, maxSize: maxMetadataBytes, what });
  }
  const blocks = new Lz4Blocks(header.metadataSize, dictionary);
  const parts: Uint8Array[] = [];
  while (blocks.remaining > 0) parts.push(await blocks.next((size) => region.take(size)));
  return concatBytes(parts);
}
