/*
 * Writes NadeoPak files: versions 1 to 5 with an encrypted header, 6 to 18 with a plain one. The layout is that of
 * the game's own packs: header, files, metadata. Because the header comes first and tells sizes (and, from version 6
 * on, a hash over all that follows), files are read and compressed once for each of that, except as far as they fit
 * into a bounded memory.
 */
import type { BlowfishKey } from '../../../codecs/ciphers/blowfish.ts';
import { concatBytes } from '../../../core/bytes.ts';
import { PakratError } from '../../../core/errors.ts';
import { md5, sha256Hasher } from '../../../core/hash.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { foldName } from '../../names.ts';
import { type PackResult, type PackSink, PositionedSink } from '../../packing.ts';
import { getRow } from '../../pak.ts';
import { sortForPacking } from '../../sorted-files.ts';
import type { MetadataEntry } from '../directory/metadata.ts';
import { firstVersionOfEightRounds, ivSize, packCipherKey, paddedSize } from '../entries/cipher-stream.ts';
import { fileClassId, nodeClasses } from '../gbx/node-classes.ts';
import { encodePrivateHeader, oldHeaderOffset, type PrivateHeader } from '../header/private-header.ts';
import {
  contentsOffset,
  emptyPublicHeader,
  encodePublicHeader,
  newestVersion,
  type PublicHeader,
  publicFieldsOffset,
} from '../header/public-header.ts';
import { keyFromBase, keySize } from '../keys/keys.ts';
import { sealPrivate } from './seal-private.ts';
import { filled, StoredFiles } from './stored-files.ts';
import { type FileStorage, type NadeoPackFile, planDirectory } from './write-files.ts';
import { noMetadata, ownMetadata, sealMetadata } from './write-metadata.ts';

/** Sizes that the header of version 15 and above may have, with room for more. */
const headerRooms = [0x4000, 0x100000, 0x1000000] as const;
const slotStep = 64;
const maxOffset = 0xffffffff;

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
}

/**
 * Writes a NadeoPak. The same files always give the same bytes. One file at a time is held in memory.
 * @throws E_USAGE for names, keys and versions that cannot be, E_UNSUPPORTED past 4 GiB, E_INTEGRITY for files that
 *   change
 */
export async function writeNadeoPak(
  files: Iterable<NadeoPackFile>,
  sink: PackSink,
  options: NadeoWriteOptions,
): Promise<PackResult> {
  const storage = storageOf(options);
  const sorted = [...(await sortForPacking(files, foldName))];
  const stored = new StoredFiles(sorted, storage);
  const plan = await planPack(sorted, stored, { ...storage, info: options.info ?? {} });
  const out = new PositionedSink(sink);
  const { key } = storage;
  const isSealed = plan.version < 6 && key !== undefined;
  const header = isSealed ? sealedHeader(plan, key) : await plainHeader(plan, stored);
  await out.write(header);
  for await (const slot of slots(plan, stored)) await out.write(slot);
  await out.write(plan.metadata);
  return { files: sorted.length, bytes: out.position, notes: packNotes(options) };
}

interface PackPlan extends Omit<PrivateHeader, 'md5' | 'plainSize'> {
  version: number;
  info: PackInfo;
  /** Bytes of each file with what fills it up. */
  slotSizes: number[];
  /** As stored: IV, ciphertext. Empty without a key. */
  metadata: Uint8Array;
  /** From the first byte of the data to the last one of the metadata. */
  bodySize: number;
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

/** Reads every file once: sizes, places, classes, checksums and metadata. */
async function planPack(
  files: readonly NadeoPackFile[],
  stored: StoredFiles,
  { version, key, info }: FileStorage & { info: PackInfo },
): Promise<PackPlan> {
  const directory = planDirectory(files);
  const metadata: MetadataEntry[] = [];
  const slotSizes: number[] = [];
  let offset = 0;
  for (const [index, file] of files.entries()) {
    const record = getRow(directory.files, { index });
    const { bytes, content, compressedSize, flags } = await stored.read(index);
    const slotSize =
      version >= firstVersionOfEightRounds ? Math.ceil(bytes.length / slotStep) * slotStep : bytes.length;
    record.offset = offset;
    record.compressedSize = compressedSize;
    record.flags |= flags;
    record.classId ||= fileClassId(file.name, content, version);
    if (version >= 17) record.slotSize = slotSize;
    if (version >= 14) record.checksum = md5(filled(bytes, slotSize));
    slotSizes.push(slotSize);
    offset += slotSize;
    const gbx = file.metadata ?? ownMetadata(content);
    if (gbx !== undefined) metadata.push({ fileIndex: index, gbx });
  }
  // Version 1 has no place for the sizes of the section.
  const section = key === undefined || version < 2 ? noMetadata : sealMetadata(metadata, { key, version });
  const bodySize = offset + section.metadata.length;
  const bare = { ...directory, ...section, version, info, slotSizes, bodySize, metadataOffset: offset, dataOffset: 0 };
  return placed({ ...bare, unused: new Uint8Array(16), flags: 0 });
}

/** The plan with its data where the header ends. */
function placed(plan: PackPlan): PackPlan {
  const headerSize = plan.version < 6 ? sealedHeaderSize(plan) : plainHeaderSize(plan);
  if (headerSize + plan.bodySize > maxOffset) {
    throw new PakratError('E_UNSUPPORTED', 'a NadeoPak cannot be larger than 4 GiB', { hint: 'Pack into several.' });
  }
  return { ...plan, dataOffset: headerSize, metadataOffset: headerSize + plan.metadataOffset };
}

/** The whole header of versions 1 to 5: magic, version, IV, ciphertext. */
function sealedHeader(plan: PackPlan, key: BlowfishKey): Uint8Array {
  const { version, dataOffset } = plan;
  const plain = encodePrivateHeader(plan, version);
  const sealed = sealPrivate(plain, { key, version, folders: plan.folders, size: dataOffset - oldHeaderOffset });
  return concatBytes([new ByteWriter().text('NadeoPak').u32le(version).bytes(), sealed]);
}

function sealedHeaderSize(plan: PackPlan): number {
  return oldHeaderOffset + ivSize + paddedSize(encodePrivateHeader(plan, plan.version).length);
}

function plainHeaderSize(plan: PackPlan): number {
  const size = publicPart(plan).length + encodePrivateHeader(privateFields(plan), plan.version).length;
  if (plan.version < 15) return size;
  const room = headerRooms.find((bytes) => bytes >= size);
  if (room === undefined) {
    throw new PakratError('E_UNSUPPORTED', `a header of ${size} bytes is larger than the format foresees`);
  }
  return room;
}

/** The whole header of version 6 and above, with what fills it up; hashes all that follows. */
async function plainHeader(plan: PackPlan, stored: StoredFiles): Promise<Uint8Array> {
  const { version, dataOffset, metadata } = plan;
  const start = publicPart(plan);
  const fields = start.subarray(publicFieldsOffset(version));
  const header = filled(concatBytes([start, encodePrivateHeader(privateFields(plan), version, fields)]), dataOffset);
  const hasher = sha256Hasher();
  hasher.update(header.subarray(contentsOffset));
  for await (const slot of slots(plan, stored)) hasher.update(slot);
  hasher.update(metadata);
  header.set(hasher.digest(), contentsOffset - 32);
  return header;
}

function publicPart({ version, info, dataOffset }: PackPlan): Uint8Array {
  return encodePublicHeader({ ...emptyPublicHeader(version), ...info, headerSize: dataOffset });
}

function privateFields(plan: PackPlan) {
  return {
    ...plan,
    metadataMd5: plan.version >= newestVersion ? md5(plan.metadata) : undefined,
    fileSize: plan.dataOffset + plan.bodySize,
    author: plan.info.author,
  };
}

async function* slots({ slotSizes }: Pick<PackPlan, 'slotSizes'>, stored: StoredFiles): AsyncGenerator<Uint8Array> {
  for (const [index, slotSize] of slotSizes.entries()) yield filled((await stored.read(index)).bytes, slotSize);
}

function packNotes({ version, key, compress = true }: NadeoWriteOptions): string[] {
  const notes: string[] = [];
  if (key === undefined) notes.push('no key is given: files are not encrypted, and there is no metadata section');
  if (compress && version >= firstVersionOfEightRounds) {
    notes.push('version 18 compresses with LZ4, which is not written: files are stored as they are');
  }
  return notes;
}
