import { compareBytes, concatBytes, equalBytes, isAllZero, toHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { md5, md5Hex } from '../../core/hash.ts';
import { ByteReader, repeatable } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';
import { type Format, startsWith } from '../format.ts';

/*
 * The patch manifest: which patches make a file out of which older ones. All numbers are big-endian.
 *
 *   "PA"
 *   u8   version (1 or 2)
 *   u8   size of target ckeys, u8 of source ekeys, u8 of patch ekeys (16 each)
 *   u8   bits of the block size (16: blocks of at most 64 KiB)
 *   u16  number of blocks
 *   u8   flags: 1 plain data, 2 the encoding file follows:
 *          ckey (16), ekey (16), u32 size, u32 encoded size, u8 size of its espec, espec
 *   blocks × { last target ckey, MD5 of the block (16), u32 offset }
 *
 *   a block: entries { u8 number of patches, target ckey, u40 target size, and for each patch
 *                      source ekey, u40 source size, patch ekey, u32 patch size, u8 order }, then a zero byte
 *
 * The manifest is named by the MD5 of all that stands before the first block, not of the file. A block's MD5 covers its
 * terminating zero. Zero bytes may follow the last block.
 * Source: wowdev.wiki TACT; checked on a real manifest of StarCraft II 5.0.15.95841.
 */

const what = 'patch manifest';

/** Told by its magic and version. */
export const patchManifestFormat: Format = { name: what, matches: startsWith('PA\x01', 'PA\x02') };

const keySize = 16;
const hasEncoding = 0x2;

/** The encoding file that the patched build has. */
export interface PatchManifestEncoding {
  ckey: Uint8Array;
  ekey: Uint8Array;
  size: number;
  encodedSize: number;
  espec: string;
}

/** A patch from one older file. Keys are views of the manifest. */
export interface FilePatch {
  sourceEkey: Uint8Array;
  /** Decoded size of the older file. */
  sourceSize: number;
  /** Key of the patch object. */
  patchEkey: Uint8Array;
  patchSize: number;
  /** Age of the source among the older files of the target, counted from 0. */
  order: number;
}

/** A file that can be made by patching. */
export interface PatchedFile {
  targetCkey: Uint8Array;
  targetSize: number;
  patches: FilePatch[];
}

/** Sizes of the three sorts of keys, in bytes. */
export interface PatchKeySizes {
  target: number;
  source: number;
  patch: number;
}

/** All of a manifest but its files. */
export interface PatchManifestHeader {
  version: number;
  keySizes: PatchKeySizes;
  /** Blocks are of at most 2^blockBits bytes. */
  blockBits: number;
  flags: number;
  encoding?: PatchManifestEncoding;
  /** Number of zero bytes behind the last block. */
  padding: number;
}

/** A block of a manifest. */
export interface PatchBlock {
  lastCkey: Uint8Array;
  bytes: Uint8Array;
}

/** A decoded manifest. The blocks stay bytes; their MD5s and every entry were checked. */
export interface PatchManifest extends PatchManifestHeader {
  /** The manifest's name, lower-case hex. */
  key: string;
  fileCount: number;
  /** The files, in the order of their target ckeys; one object at a time. */
  files: Iterable<PatchedFile>;
  /** The file with this ckey, or undefined. */
  find(targetCkey: Uint8Array): PatchedFile | undefined;
}

function readHeader(reader: ByteReader): Omit<PatchManifestHeader, 'padding'> & { blockCount: number } {
  reader.magic('PA');
  const version = reader.version('u8', 1, 2);
  const keySizes = { target: reader.u8(), source: reader.u8(), patch: reader.u8() };
  for (const size of Object.values(keySizes)) checkRange('key size', size, [1, 16]);
  const blockBits = reader.u8();
  checkRange('block bits', blockBits, [12, 24]);
  const blockCount = reader.u16();
  const flags = reader.u8();
  const header = { version, keySizes, blockBits, flags, blockCount };
  return (flags & hasEncoding) === 0 ? header : { ...header, encoding: readEncoding(reader) };
}

function checkRange(name: string, found: number, [least, most]: readonly [number, number]): void {
  if (found >= least && found <= most) return;
  throw formatError('E_FORMAT_RANGE', what, name, { expected: `${least} to ${most}`, found });
}

function readEncoding(reader: ByteReader): PatchManifestEncoding {
  const keys = { ckey: reader.take(keySize), ekey: reader.take(keySize) };
  return { ...keys, size: reader.u32(), encodedSize: reader.u32(), espec: reader.utf8(reader.u8()) };
}

/** The next file, or undefined at the end of a block. */
function readFile(reader: ByteReader, sizes: PatchKeySizes): PatchedFile | undefined {
  const count = reader.u8();
  if (count === 0) return undefined;
  const file: PatchedFile = { targetCkey: reader.take(sizes.target), targetSize: reader.u40(), patches: [] };
  reader.count(count, sizes.source + sizes.patch + 10);
  for (let i = 0; i < count; i++) {
    file.patches.push({
      sourceEkey: reader.take(sizes.source),
      sourceSize: reader.u40(),
      patchEkey: reader.take(sizes.patch),
      patchSize: reader.u32(),
      order: reader.u8(),
    });
  }
  return file;
}

function* blockFiles(block: Uint8Array, sizes: PatchKeySizes): Generator<PatchedFile> {
  const reader = new ByteReader(block, what);
  for (let file = readFile(reader, sizes); file !== undefined; file = readFile(reader, sizes)) yield file;
}

/** Moves over the block at the reader. Gives its bytes, with the zero behind the entries, and the number of these. */
function skipBlock(reader: ByteReader, sizes: PatchKeySizes): { bytes: Uint8Array; files: number } {
  const start = reader.pos;
  let files = 0;
  for (let count = reader.u8(); count > 0; count = reader.u8()) {
    reader.skip(sizes.target + 5 + count * (sizes.source + sizes.patch + 10));
    files++;
  }
  return { bytes: reader.bytes.subarray(start, reader.pos), files };
}

/** Reads the table of blocks and checks each block: it stands behind the one before, and has its MD5. */
function readBlocks(reader: ByteReader, count: number, sizes: PatchKeySizes) {
  const rowSize = sizes.target + keySize + 4;
  const table = reader.sub(reader.count(count, rowSize) * rowSize);
  const tableEnd = reader.pos;
  const blocks: PatchBlock[] = [];
  let fileCount = 0;
  for (let i = 0; i < count; i++) {
    const lastCkey = table.take(sizes.target);
    const hash = table.take(keySize);
    const offset = table.u32();
    if (offset < reader.pos) {
      const facts = { offset, expected: reader.pos };
      throw formatError('E_FORMAT_RANGE', what, `block ${i} overlaps what is before it`, facts);
    }
    reader.seek(offset);
    const { bytes, files } = skipBlock(reader, sizes);
    if (!equalBytes(md5(bytes), hash)) {
      const facts = { offset, expected: toHex(hash), found: md5Hex(bytes) };
      throw formatError('E_FORMAT_CHECKSUM', what, `block ${i} has another MD5`, facts);
    }
    blocks.push({ lastCkey, bytes });
    fileCount += files;
  }
  return { blocks, fileCount, tableEnd };
}

/**
 * Decodes a patch manifest and checks it whole.
 * @throws E_FORMAT_MAGIC, E_FORMAT_VERSION, E_FORMAT_RANGE for sizes and offsets that cannot be, E_FORMAT_TRUNCATED,
 *   E_FORMAT_CHECKSUM for a block with another MD5, E_FORMAT for bytes behind the blocks that are not zero
 */
export function decodePatchManifest(bytes: Uint8Array): PatchManifest {
  const reader = new ByteReader(bytes, what);
  const { blockCount, ...header } = readHeader(reader);
  const { keySizes } = header;
  const { blocks, fileCount, tableEnd } = readBlocks(reader, blockCount, keySizes);
  if (!isAllZero(bytes.subarray(reader.pos))) {
    throw formatError('E_FORMAT', what, 'bytes behind the last block that are not zero', { offset: reader.pos });
  }
  const files = repeatable(function* () {
    for (const block of blocks) yield* blockFiles(block.bytes, keySizes);
  });
  function find(targetCkey: Uint8Array): PatchedFile | undefined {
    const block = blocks.find(({ lastCkey }) => compareBytes(lastCkey, targetCkey) >= 0);
    if (block === undefined) return undefined;
    for (const file of blockFiles(block.bytes, keySizes)) if (equalBytes(file.targetCkey, targetCkey)) return file;
    return undefined;
  }
  const key = md5Hex(bytes.subarray(0, tableEnd));
  return { ...header, key, padding: reader.remaining, fileCount, files, find };
}

/** The name of a patch manifest, lower-case hex, after checking it whole. Throws as {@link decodePatchManifest}. */
export function patchManifestKey(bytes: Uint8Array): string {
  return decodePatchManifest(bytes).key;
}

/** A manifest to encode: the header, whose sizes and version have defaults, and the files in any order. */
export type PatchManifestContent = Partial<Omit<PatchManifestHeader, 'flags'>> & {
  /** Bit 2 is set by itself when there is an `encoding`. */
  flags?: number;
  files: Iterable<PatchedFile>;
};

function fixed(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.length === size) return bytes;
  throw formatError('E_FORMAT_RANGE', what, 'key of a wrong size', { expected: size, found: bytes.length });
}

function writeFile({ targetCkey, targetSize, patches }: PatchedFile, sizes: PatchKeySizes): Uint8Array {
  checkRange('number of patches of a file', patches.length, [1, 255]);
  const writer = new ByteWriter(128).u8(patches.length).raw(fixed(targetCkey, sizes.target)).u40(targetSize);
  for (const patch of patches) {
    writer.raw(fixed(patch.sourceEkey, sizes.source)).u40(patch.sourceSize);
    writer.raw(fixed(patch.patchEkey, sizes.patch)).u32(patch.patchSize).u8(patch.order);
  }
  return writer.bytes();
}

const ownKeySizes: PatchKeySizes = { target: keySize, source: keySize, patch: keySize };
const usualBlockBits = 16;

/**
 * The blocks of a manifest, as full as their size allows, one at a time: for whoever does not have all files in memory.
 * @param sorted files in the order of their target ckeys
 * @throws E_FORMAT_RANGE for keys of a wrong size and for more patches than its fields can hold
 */
export function* encodePatchBlocks(
  sorted: Iterable<PatchedFile>,
  { keySizes = ownKeySizes, blockBits = usualBlockBits }: Pick<PatchManifestContent, 'keySizes' | 'blockBits'> = {},
): Generator<PatchBlock> {
  let writer = new ByteWriter();
  let lastCkey: Uint8Array | undefined;
  for (const file of sorted) {
    const entry = writeFile(file, keySizes);
    if (lastCkey !== undefined && writer.size + entry.length + 1 > 2 ** blockBits) {
      yield { lastCkey, bytes: writer.u8(0).bytes() };
      writer = new ByteWriter();
    }
    writer.raw(entry);
    lastCkey = file.targetCkey;
  }
  if (lastCkey !== undefined) yield { lastCkey, bytes: writer.u8(0).bytes() };
}

function writeEncoding(writer: ByteWriter, { ckey, ekey, size, encodedSize, espec }: PatchManifestEncoding): void {
  const text = new TextEncoder().encode(espec);
  checkRange('size of the espec', text.length, [0, 255]);
  writer.raw(fixed(ckey, keySize)).raw(fixed(ekey, keySize)).u32(size).u32(encodedSize).u8(text.length).raw(text);
}

/** What the table of a manifest says of a block. */
export interface PatchBlockFacts {
  lastCkey: Uint8Array;
  /** MD5 of the block. */
  hash: Uint8Array;
  /** Bytes of the block. */
  size: number;
}

/**
 * What stands before the blocks of a manifest: the header and their table. Its MD5 is the name of the manifest.
 * @throws E_FORMAT_RANGE for keys of a wrong size and for more blocks than its fields can hold
 */
export function encodePatchManifestHead(
  content: Omit<PatchManifestContent, 'files'>,
  blocks: readonly PatchBlockFacts[],
): Uint8Array {
  const { version = 2, blockBits = usualBlockBits, keySizes: sizes = ownKeySizes, encoding } = content;
  const flags = ((content.flags ?? 0) & ~hasEncoding) | (encoding === undefined ? 0 : hasEncoding);
  checkRange('number of blocks', blocks.length, [0, 0xffff]);
  const writer = new ByteWriter().text('PA').u8(version).u8(sizes.target).u8(sizes.source).u8(sizes.patch);
  writer.u8(blockBits).u16(blocks.length).u8(flags);
  if (encoding !== undefined) writeEncoding(writer, encoding);
  let offset = writer.size + blocks.length * (sizes.target + keySize + 4);
  for (const { lastCkey, hash, size } of blocks) {
    writer.raw(lastCkey).raw(hash).u32(offset);
    offset += size;
  }
  return writer.bytes();
}

/** Writes a patch manifest, the mirror of {@link decodePatchManifest}. @throws as {@link encodePatchBlocks} and {@link encodePatchManifestHead} */
export function encodePatchManifest({ files, padding = 0, ...header }: PatchManifestContent): Uint8Array {
  const sorted = [...files].sort((a, b) => compareBytes(a.targetCkey, b.targetCkey));
  const blocks = [...encodePatchBlocks(sorted, header)];
  const facts = blocks.map(({ lastCkey, bytes }) => ({ lastCkey, hash: md5(bytes), size: bytes.length }));
  const head = encodePatchManifestHead(header, facts);
  return concatBytes([head, ...blocks.map(({ bytes }) => bytes), new Uint8Array(padding)]);
}
