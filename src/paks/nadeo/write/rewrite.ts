/*
 * Makes a NadeoPak out of an older one: what is taken over is copied as it is stored, IV and padding included; the directory
 * has the same folders, flags, classes and (hashed) names. Header and hashes are made anew.
 */
import { breathe } from '../../../core/breathe.ts';
import { concatBytes, isAllZero } from '../../../core/bytes.ts';
import { PakratError } from '../../../core/errors.ts';
import { md5, sha256Hasher } from '../../../core/hash.ts';
import { readPieces } from '../../../files/pieces.ts';
import {
  dataOrder,
  notKept,
  type PackResult,
  type PackSink,
  PositionedSink,
  packFileWith,
  type RewriteOptions,
  type RewriteRow,
} from '../../packing.ts';
import { getRow } from '../../pak.ts';
import type { FileRecord } from '../directory/directory.ts';
import { type MetadataEntry, metadataStep } from '../directory/metadata.ts';
import { firstVersionOfEightRounds, ivSize } from '../entries/cipher-stream.ts';
import { isEncrypted, storedSize, usedChecksum } from '../entries/entry-reader.ts';
import { fileClassId } from '../gbx/node-classes.ts';
import type { ChecksumKind } from '../header/checksums.ts';
import type { OpenedHeader } from '../header/open-header.ts';
import { contentsOffset, newestVersion } from '../header/public-header.ts';
import type { OpenedDirectory } from '../opened-directory.ts';
import { likeHeader, likeHeaderSize } from './like-header.ts';
import { filled, StoredFiles } from './stored-files.ts';
import { type NadeoPackFile, planDirectory, type StoredLike } from './write-files.ts';
import { noMetadata, ownMetadata, sealMetadata } from './write-metadata.ts';

const slotStep = 64;
const maxOffset = 0xffffffff;

/** The pack that is rewritten. */
export interface OldNadeoPak {
  header: OpenedHeader;
  directory: OpenedDirectory;
  /** How an entry is stored, for content that takes its place. */
  likeOf: (file: FileRecord) => Promise<StoredLike>;
  /** What its checksums are over. */
  checksumKind: () => Promise<ChecksumKind>;
  metadata: () => Promise<MetadataEntry[]>;
}

/** Bytes of the old pack that are taken over. */
interface Slot {
  offset: number;
  size: number;
}

/** A file of the new pack: its record, and the bytes that are stored of it, copied or new. */
interface NewFile {
  record: FileRecord;
  slotSize: number;
  copied: Slot | undefined;
  /** Its number among the new files. */
  made: number;
  /** Another file has the same bytes in the old pack, too. */
  isShared: boolean;
  metadata: Uint8Array | undefined;
}

/** As `Pak.rewrite`. */
export async function rewriteNadeoPak(
  old: OldNadeoPak,
  rows: readonly RewriteRow[],
  sink: PackSink,
  { signal, onKept }: RewriteOptions = {},
): Promise<PackResult> {
  const { context, records } = old.directory;
  const { version, source } = context;
  const notes = checkKeys(old);
  const kind = rows.some(({ file }) => file !== undefined) && version >= 14 ? await old.checksumKind() : 'unknown';
  const made = await newFiles(old, rows);
  const stored = new StoredFiles(made, { version, key: context.key, compress: true, classes: context.classes, signal });
  const directory = planDirectory(made, records.folders);
  const findSlot = slotFinder(old.directory);
  const hasSizes = isSizeField(records.files);
  let count = 0;
  const files: NewFile[] = [];
  for (const row of rows) {
    const number = row.file === undefined ? -1 : count++;
    files.push(
      number < 0
        ? keptFile(old, row, findSlot)
        : await storedFile(old, {
            row,
            made: getRow(directory.files, { index: number }),
            number,
            stored,
            kind,
            hasSizes,
          }),
    );
  }
  const order = dataOrder(rows, (index) => getRow(records.files, { index }).offset).map((index) =>
    getRow(files, { index }),
  );
  const dataSize = place(order);
  const section = await metadataOf(old, rows, files);
  if (section.note !== undefined) notes.push(section.note);
  const copy = async function* (slot: Slot): AsyncGenerator<Uint8Array> {
    for await (const piece of readPieces(source, slot.offset, slot.size)) {
      await breathe(signal);
      yield piece;
    }
  };
  const body = async function* (onCopied?: (bytes: number) => void): AsyncGenerator<Uint8Array> {
    for (const { copied, made: number, slotSize, isShared } of order) {
      if (copied === undefined) yield filled((await stored.read(number)).bytes, slotSize);
      else if (!isShared) yield* copy(copied);
      if (copied !== undefined) onCopied?.(copied.size);
    }
    if (section.copied === undefined) yield section.metadata;
    else yield* copy(section.copied);
  };
  const metadataSize = section.copied?.size ?? section.metadata.length;
  const fields = {
    ...records,
    folders: directory.folders,
    files: files.map(({ record }) => record),
    metadataSize: section.metadataSize,
    metadataStoredSize: section.metadataStoredSize,
  };
  const headerSize = likeHeaderSize(old, fields);
  if (headerSize + dataSize + metadataSize > maxOffset) {
    throw new PakratError('E_UNSUPPORTED', 'a NadeoPak cannot be larger than 4 GiB', { hint: 'Leave something out.' });
  }
  const placed = {
    ...fields,
    dataOffset: headerSize,
    metadataOffset: headerSize + dataSize,
    fileSize: headerSize + dataSize + metadataSize,
    metadataMd5: hasMetadataMd5(old) ? await metadataMd5(body, dataSize) : records.metadataMd5,
  };
  const header = likeHeader(old, placed);
  if (version >= 6 && !isAllZero(old.header.publicPart?.contentsChecksum ?? new Uint8Array(0))) {
    const hasher = sha256Hasher();
    hasher.update(header.subarray(contentsOffset));
    for await (const piece of body()) hasher.update(piece);
    header.set(hasher.digest(), contentsOffset - 32);
  }
  const out = new PositionedSink(sink);
  await out.write(header);
  for await (const piece of body(onKept)) await out.write(piece);
  return { files: files.length, bytes: out.position, notes };
}

/** A key of the master server is made of the hash of the contents: a changed pack would have another, which only the server gives. */
function checkKeys({ directory: { packKey, records, context } }: OldNadeoPak): string[] {
  if (packKey?.kind === 'master-server key') {
    throw new PakratError(
      'E_UNSUPPORTED',
      'the key of this pack is made of the hash of its contents, and no other has it',
      {
        hint: 'Extract it, and pack the files anew with a key of your own.',
      },
    );
  }
  const isOpen = packKey !== undefined || context.version < 6 || !records.files.some((file) => isEncrypted(file));
  return isOpen ? [] : ['if the key of its files is from the master server, the game cannot read them in another pack'];
}

async function newFiles(
  { directory: { records }, likeOf }: OldNadeoPak,
  rows: readonly RewriteRow[],
): Promise<NadeoPackFile[]> {
  const made: NadeoPackFile[] = [];
  for (const { old, file } of rows) {
    if (file === undefined) continue;
    const like = old === undefined ? undefined : await likeOf(getRow(records.files, { index: old }));
    made.push(packFileWith<Partial<NadeoPackFile>>(file, { like }));
  }
  return made;
}

/** Finds the bytes of a file in the old pack: its slot, unless the field for that is none and reaches into what follows. */
function slotFinder({ context, records }: OpenedDirectory): (file: FileRecord) => Slot {
  const { files, metadataOffset, dataOffset } = records;
  const starts = [...files.map(({ offset }) => offset), metadataOffset - dataOffset].sort((a, b) => a - b);
  const ends = new Map(starts.map((start, i) => [start, starts[i + 1] ?? Number.POSITIVE_INFINITY]));
  const hasSlots = !isSizeField(files);
  return (file) => {
    const stored = storedSize(file, context.version);
    const slot = file.slotSize ?? 0;
    const isSlot = hasSlots && stored > 0 && slot > stored && file.offset + slot <= (ends.get(file.offset) ?? 0);
    return { offset: context.dataOffset + file.offset, size: isSlot ? slot : stored };
  };
}

/** True for packs that have the size of a file where others have that of its slot. */
function isSizeField(files: readonly FileRecord[]): boolean {
  return files.every(({ slotSize, size }) => slotSize === size);
}

function keptFile({ directory }: OldNadeoPak, { old = -1 }: RewriteRow, findSlot: (file: FileRecord) => Slot): NewFile {
  const { records, context } = directory;
  const file = getRow(records.files, { index: old });
  const { source } = context;
  const slot = findSlot(file);
  if (slot.size > 0 && slot.offset + slot.size > source.size) {
    throw notKept(file.name, `it ends at ${slot.offset + slot.size}, past the end of the pack`);
  }
  const copied = { ...slot, offset: slot.size === 0 ? 0 : slot.offset };
  return { record: { ...file }, slotSize: slot.size, copied, made: -1, isShared: false, metadata: undefined };
}

interface StoredWork {
  row: RewriteRow;
  /** The record that the directory has for it. */
  made: FileRecord;
  number: number;
  stored: StoredFiles;
  kind: ChecksumKind;
  /** As {@link isSizeField}. */
  hasSizes: boolean;
}

async function storedFile(
  { directory: { records, context } }: OldNadeoPak,
  { row, made, number, stored, kind, hasSizes }: StoredWork,
): Promise<NewFile> {
  const { version } = context;
  const { bytes, content, compressedSize, flags } = await stored.read(number);
  const old = row.old === undefined ? undefined : getRow(records.files, { index: row.old });
  const slotSize = version >= firstVersionOfEightRounds ? Math.ceil(bytes.length / slotStep) * slotStep : bytes.length;
  const name = row.file?.name ?? '';
  const record: FileRecord = {
    ...(old ?? made),
    size: content.length,
    compressedSize,
    flags,
    classId: old?.classId ?? fileClassId(name, content, version),
  };
  if (version >= 17) record.slotSize = hasSizes ? content.length : slotSize;
  if (version >= 14 && (old === undefined || usedChecksum(old) !== undefined)) {
    record.checksum = md5(kind === 'content' ? content : filled(bytes, slotSize));
  }
  return { record, slotSize, copied: undefined, made: number, isShared: false, metadata: ownMetadata(content) };
}

/** Gives each file its offset in the data. Returns the size of the data. */
function place(order: readonly NewFile[]): number {
  const shared = new Map<string, number>();
  let end = 0;
  for (const file of order) {
    const { copied } = file;
    const key = copied === undefined || copied.size === 0 ? undefined : `${copied.offset} ${copied.size}`;
    const known = key === undefined ? undefined : shared.get(key);
    file.isShared = known !== undefined;
    file.record.offset = known ?? end;
    if (known !== undefined) continue;
    if (key !== undefined) shared.set(key, end);
    end += file.slotSize;
  }
  return end;
}

interface Section {
  metadata: Uint8Array;
  metadataSize: number;
  metadataStoredSize: number;
  copied?: Slot;
  note?: string;
}

/** The metadata of the new pack: that of the old one as it is stored, unless an entry of it is another now. */
async function metadataOf(old: OldNadeoPak, rows: readonly RewriteRow[], files: readonly NewFile[]): Promise<Section> {
  const { records, context } = old.directory;
  const { version, key, source } = context;
  const { metadataOffset, metadataSize, metadataStoredSize } = records;
  const isSame = rows.every((row, i) => (row.old === undefined ? files[i]?.metadata === undefined : row.old === i));
  const isReplaced = files.some(({ metadata }) => metadata !== undefined);
  if (metadataStoredSize === 0) return noMetadata;
  const replaced = new Set(rows.flatMap((row) => (row.file !== undefined && row.old !== undefined ? [row.old] : [])));
  const isKept = isSame && !isReplaced && (replaced.size === 0 || key === undefined || !(await hasAny(old, replaced)));
  if (isKept && rows.length >= records.files.length) {
    const size = ivSize + Math.ceil(metadataStoredSize / metadataStep) * metadataStep;
    const end = version >= newestVersion ? source.size : Math.min(source.size, metadataOffset + size);
    const copied = { offset: metadataOffset, size: Math.max(0, end - metadataOffset) };
    return { metadata: new Uint8Array(0), metadataSize, metadataStoredSize, copied };
  }
  if (key === undefined) {
    throw new PakratError('E_KEY_MISSING', 'the metadata of the pack changes, and no key of the pack is given', {
      hint: 'Give the key of the pack with --key: hex, base64 or @packlist.dat.',
    });
  }
  const known = new Map((await old.metadata()).map(({ fileIndex, gbx }) => [fileIndex, gbx]));
  const entries = rows.flatMap((row, fileIndex): MetadataEntry[] => {
    const gbx = row.file === undefined ? known.get(row.old ?? -1) : files[fileIndex]?.metadata;
    return gbx === undefined ? [] : [{ fileIndex, gbx }];
  });
  const section = sealMetadata(entries, { key, version });
  return version < newestVersion ? section : { ...section, note: 'the metadata is compressed with zlib, not with LZ4' };
}

async function hasAny(old: OldNadeoPak, replaced: ReadonlySet<number>): Promise<boolean> {
  return (await old.metadata()).some(({ fileIndex }) => replaced.has(fileIndex));
}

function hasMetadataMd5({ header, directory: { records } }: OldNadeoPak): boolean {
  return header.version >= 14 && records.metadataMd5 !== undefined && !isAllZero(records.metadataMd5);
}

/** MD5 of what lies behind the data. */
async function metadataMd5(body: () => AsyncIterable<Uint8Array>, dataSize: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let at = 0;
  for await (const piece of body()) {
    if (at >= dataSize) parts.push(piece.slice());
    at += piece.length;
  }
  return md5(concatBytes(parts));
}
