/*
 * Writes NadeoPak files: versions 1 to 5 with an encrypted header, 6 to 18 with a plain one. The layout is that of
 * the game's own packs: header, files, metadata. Because the header comes first and tells sizes (and, from version 6
 * on, a hash over all that follows), what is stored of the files, and what the directory says of each, is put down in
 * temporary files first.
 */
import { tmpdir } from 'node:os';
import type { BlowfishKey } from '../../../codecs/ciphers/blowfish.ts';
import { breathe } from '../../../core/breathe.ts';
import { PakratError } from '../../../core/errors.ts';
import { type Hasher, md5, md5Hasher, sha256Hasher } from '../../../core/hash.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { Spool } from '../../../files/spool.ts';
import { foldName } from '../../names.ts';
import { type PackResult, type PackSink, PositionedSink } from '../../packing.ts';
import { type SortedFiles, sortForPacking } from '../../sorted-files.ts';
import { encodeFile, encodeFolders } from '../directory/directory.ts';
import type { MetadataEntry } from '../directory/metadata.ts';
import { firstVersionOfEightRounds, ivSize, packCipherKey, paddedSize } from '../entries/cipher-stream.ts';
import { fileClassId, nodeClasses } from '../gbx/node-classes.ts';
import { encodePrivateStart, oldHeaderOffset, type PrivateHeader } from '../header/private-header.ts';
import {
  contentsOffset,
  emptyPublicHeader,
  encodePublicHeader,
  newestVersion,
  type PublicHeader,
  publicFieldsOffset,
} from '../header/public-header.ts';
import { keyFromBase, keySize } from '../keys/keys.ts';
import { sealPieces } from './seal-private.ts';
import { filled } from './stored-files.ts';
import { DirectoryPlan, type FileStorage, type NadeoPackFile, storeFile } from './write-files.ts';
import { noMetadata, ownMetadata, sealMetadata } from './write-metadata.ts';

/** Sizes that the header of version 15 and above may have, with room for more. */
const headerRooms = [0x4000, 0x100000, 0x1000000] as const;
const slotStep = 64;
const maxOffset = 0xffffffff;
const noBytes = new Uint8Array(0);

/** The fields of the public part of the header (version 6 and above) that a packer may fill. */
export type PackInfo = Partial<
  Omit<PublicHeader, 'version' | 'contentsChecksum' | 'headerFlags' | 'headerSize' | 'unused'>
>;

/** The options of a NadeoPak that is written. */
export interface NadeoWriteOptions {
  /** 1 to 18; 3 is TrackMania's. */
  version: number;
  /** Base key, 16 bytes. Needed below version 6; without it nothing is encrypted, and there is no metadata section. */
  key?: Uint8Array | undefined;
  /** Compress files that get smaller by it. Default true; version 18 is written without. */
  compress?: boolean | undefined;
  info?: PackInfo | undefined;
  signal?: AbortSignal | undefined;
  /** A folder for what is put down meanwhile, as much as the pack. Default that of the system. */
  temporary?: string | undefined;
}

/**
 * Writes a NadeoPak. The same files always give the same bytes. One file at a time is held in memory.
 * @throws E_USAGE for names, keys and versions that cannot be, E_UNSUPPORTED past 4 GiB, E_INTEGRITY for files that
 *   change, E_ABORTED
 */
export async function writeNadeoPak(
  files: Iterable<NadeoPackFile>,
  sink: PackSink,
  options: NadeoWriteOptions,
): Promise<PackResult> {
  const { info = {}, signal, temporary = tmpdir() } = options;
  const storage = storageOf(options);
  const sorted = await sortForPacking(files, foldName, signal);
  const spools = { body: packSpool(temporary), rows: packSpool(temporary), header: packSpool(temporary) };
  try {
    const plan = placed(await planPack(sorted, spools, { ...storage, info }));
    const out = new PositionedSink(sink);
    for (const pieces of [headerPieces(plan, spools.header), spools.body.pieces()]) {
      for await (const piece of pieces) {
        await out.write(piece);
        await breathe(signal);
      }
    }
    return { files: sorted.count, bytes: out.position, notes: packNotes(options) };
  } finally {
    for (const spool of Object.values(spools)) spool.close();
  }
}

function packSpool(temporary: string): Spool {
  return new Spool(temporary, '.pakrat-');
}

interface PackPlan extends Omit<PrivateHeader, 'md5' | 'plainSize' | 'files'> {
  version: number;
  key: BlowfishKey | undefined;
  signal: AbortSignal | undefined;
  info: PackInfo;
  /** The count of the files, and what the directory says of each. */
  rows: Spool;
  /** From the first byte of the data to the last one of the metadata. */
  body: Spool;
}

function storageOf({ version, key, compress = true, signal }: NadeoWriteOptions): FileStorage {
  if (!Number.isInteger(version) || version < 1 || version > newestVersion) {
    throw new PakratError('E_USAGE', `NadeoPak has versions 1 to ${newestVersion}, not ${version}`);
  }
  if (key === undefined && version < 6) {
    throw new PakratError('E_USAGE', `a NadeoPak of version ${version} is encrypted: it needs a key`);
  }
  if (key !== undefined && key.length !== keySize) {
    throw new PakratError('E_USAGE', `a base key has ${keySize} bytes, not ${key.length}`);
  }
  return {
    version,
    key: key === undefined ? undefined : packCipherKey(keyFromBase(key), version),
    compress,
    signal,
    classes: nodeClasses(version),
  };
}

/** Reads every file: what is stored of it, its size, place, class, checksum and metadata. */
async function planPack(
  files: SortedFiles<NadeoPackFile>,
  { body, rows }: { body: Spool; rows: Spool },
  storage: FileStorage & { info: PackInfo },
): Promise<PackPlan> {
  const { version, key, info, signal } = storage;
  const directory = new DirectoryPlan();
  const metadata: MetadataEntry[] = [];
  rows.writer.u32le(files.count);
  let fileIndex = 0;
  for (const file of files) {
    const record = directory.recordOf(file);
    const { bytes, content, compressedSize, flags } = await storeFile(file, storage);
    const slotSize =
      version >= firstVersionOfEightRounds ? Math.ceil(bytes.length / slotStep) * slotStep : bytes.length;
    record.offset = body.size;
    record.compressedSize = compressedSize;
    record.flags |= flags;
    record.classId ||= fileClassId(file.name, content, version);
    if (version >= 17) record.slotSize = slotSize;
    if (version >= 14) record.checksum = md5(filled(bytes, slotSize));
    encodeFile(rows.writer, record, version);
    body.write(filled(bytes, slotSize));
    if (body.size > maxOffset) throw tooLarge();
    const gbx = file.metadata ?? ownMetadata(content);
    if (gbx !== undefined) metadata.push({ fileIndex, gbx });
    fileIndex += 1;
  }
  // Version 1 has no place for the sizes of the section.
  const section = key === undefined || version < 2 ? noMetadata : sealMetadata(metadata, { key, version });
  const metadataOffset = body.size;
  body.write(section.metadata);
  return {
    version,
    key,
    signal,
    info,
    rows,
    body,
    folders: directory.folders,
    metadataOffset,
    metadataSize: section.metadataSize,
    metadataStoredSize: section.metadataStoredSize,
    metadataMd5: version >= newestVersion ? md5(section.metadata) : undefined,
    dataOffset: 0,
    fileSize: 0,
    author: info.author,
    unused: new Uint8Array(16),
    flags: 0,
  };
}

/** The plan with its data where the header ends. */
function placed(plan: PackPlan): PackPlan {
  const privateSize = encodePrivateStart(plan, plan.version).size + foldersOf(plan).length + plan.rows.size;
  const size =
    plan.version < 6 ? oldHeaderOffset + ivSize + paddedSize(privateSize) : publicPart(plan).length + privateSize;
  const dataOffset = plan.version < 15 ? size : headerRooms.find((room) => room >= size);
  if (dataOffset === undefined)
    throw new PakratError('E_UNSUPPORTED', `a header of ${size} bytes is larger than the format foresees`);
  const fileSize = dataOffset + plan.body.size;
  if (fileSize > maxOffset) throw tooLarge();
  return { ...plan, dataOffset, fileSize, metadataOffset: dataOffset + plan.metadataOffset };
}

function tooLarge(): PakratError {
  return new PakratError('E_UNSUPPORTED', 'a NadeoPak cannot be larger than 4 GiB', { hint: 'Pack into several.' });
}

function foldersOf({ folders }: Pick<PackPlan, 'folders'>): Uint8Array {
  const writer = new ByteWriter();
  encodeFolders(writer, folders);
  return writer.bytes();
}

/**
 * The header: of versions 1 to 5 encrypted, from 6 on plain, with a hash of all that follows.
 * @param spool for its private part
 */
async function* headerPieces(plan: PackPlan, spool: Spool): AsyncGenerator<Uint8Array> {
  const { version, key, folders, dataOffset } = plan;
  const open = version < 6 ? undefined : publicPart(plan);
  const start = encodePrivateStart(plan, version).raw(foldersOf(plan)).bytes();
  const fields = version >= newestVersion ? open?.subarray(publicFieldsOffset(version)) : undefined;
  // With zeros where it is going to be.
  start.set(await hashOf(md5Hasher(), plan, [fields ?? noBytes, start], plan.rows));
  spool.write(start);
  for (const piece of plan.rows.pieces()) spool.write(piece);
  if (open === undefined) {
    if (key === undefined) return;
    const iv = (await hashOf(md5Hasher(), plan, [], spool)).slice(0, ivSize);
    yield new ByteWriter().text('NadeoPak').u32le(version).raw(iv).bytes();
    spool.write(new Uint8Array(dataOffset - oldHeaderOffset - ivSize - spool.size));
    yield* sealPieces(spool.pieces(), { key, version, iv, folders, foldersEnd: start.length });
    return;
  }
  spool.write(new Uint8Array(dataOffset - open.length - spool.size));
  open.set(await hashOf(sha256Hasher(), plan, [open.subarray(contentsOffset)], spool, plan.body), contentsOffset - 32);
  yield open;
  yield* spool.pieces();
}

/** The digest of some parts and then of all that is in spools. */
async function hashOf(
  hasher: Hasher,
  { signal }: { signal: AbortSignal | undefined },
  parts: readonly Uint8Array[],
  ...spools: readonly Spool[]
): Promise<Uint8Array> {
  for (const part of parts) hasher.update(part);
  for (const spool of spools) {
    for (const piece of spool.pieces()) {
      hasher.update(piece);
      await breathe(signal);
    }
  }
  return hasher.digest();
}

function publicPart({ version, info, dataOffset }: PackPlan): Uint8Array {
  return encodePublicHeader({ ...emptyPublicHeader(version), ...info, headerSize: dataOffset });
}

function packNotes({ version, key, compress = true }: NadeoWriteOptions): string[] {
  const notes: string[] = [];
  if (key === undefined) notes.push('no key is given: files are not encrypted, and there is no metadata section');
  if (compress && version >= firstVersionOfEightRounds) {
    notes.push('version 18 compresses with LZ4, which is not written: files are stored as they are');
  }
  return notes;
}
