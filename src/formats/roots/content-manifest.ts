// The content manifest of Overwatch (TactManifest/….cmf): contents by 64-bit ids, which are all that these files have for a name. Little-endian.
//
//   header, three forms, all u32:
//     oldest (to build 47161), 36 bytes     build, 4 unknown, assets, 1 unknown, entries, magic
//     1.22, 40 bytes                        build, 5 unknown, assets, 1 unknown, entries, magic
//     1.48 (from build 68309 on), 48 bytes  build, 6 unknown, patch records of assets, assets, patch records of entries, entries, magic
//   magic    63 6d 66 vv   plain, of version vv
//            vv 66 6d 63   everything behind the header is encrypted, by a procedure that each build has for itself
//   entries  each u32 number, u64 hash, u64 hash; in the oldest u32, u64
//   assets   sorted by id; each u64 id, u32 size, [from build 57230 on: u8 unknown], ckey [16]
//
// The form is told by the place of the magic, also of build 68309, on which readers differ. A manifest ends with its last asset.
// Known from what other readers take; no real one was at hand.

import { fromHex, toHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { ByteReader, repeatable } from '../../core/reader.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { Format } from '../format.ts';

const format = 'content manifest';
const plainMagic = 0x666d63;
const encryptedMagic = 0x636d66;
/** From this build on an asset has a byte more. */
const wideAssets = 57230;

interface HeaderForm {
  form: ContentManifestForm;
  /** u32s before the magic. */
  words: number;
  assetsAt: number;
  entriesAt: number;
  /** The last build that may have it. */
  lastBuild: number;
}

const forms: readonly HeaderForm[] = [
  { form: 'oldest', words: 8, assetsAt: 5, entriesAt: 7, lastBuild: 47161 },
  { form: '1.22', words: 9, assetsAt: 6, entriesAt: 8, lastBuild: 68309 },
  { form: '1.48', words: 11, assetsAt: 8, entriesAt: 10, lastBuild: 0xffffffff },
];

/** Which of the headers a manifest has. */
export type ContentManifestForm = 'oldest' | '1.22' | '1.48';

/** The header; of an encrypted manifest this is all that can be read. */
export interface ContentManifestHeader {
  form: ContentManifestForm;
  build: number;
  version: number;
  encrypted: boolean;
  assetCount: number;
  entryCount: number;
  /** Every u32 before the magic, build and counts among them. */
  words: readonly number[];
}

/** A content. */
export interface ContentAsset {
  /** 16 lower-case hex digits, highest first. */
  guid: string;
  /** Decoded size in bytes. */
  size: number;
  /** Lower-case hex. */
  ckey: string;
  /** The byte that newer builds have. */
  unknown?: number;
}

/** A decoded manifest. Assets stay bytes, and are made while iterating. */
export interface PlainContentManifest extends ContentManifestHeader {
  encrypted: false;
  /** The entries as they are. */
  entries: RecordTable;
  assets: Iterable<ContentAsset>;
}

/** A manifest of which all but the header is encrypted. */
export interface EncryptedContentManifest extends ContentManifestHeader {
  encrypted: true;
  /** Everything behind the header. */
  body: Uint8Array;
}

/** A decoded manifest. */
export type ContentManifest = PlainContentManifest | EncryptedContentManifest;

/** Told by where the magic stands in its header. */
export const contentManifestFormat: Format = { name: format, matches: (head) => findForm(head) !== undefined };

function findForm(bytes: Uint8Array): HeaderForm | undefined {
  if (bytes.length < 36) return undefined;
  const build = new ByteReader(bytes, format).u32le();
  const fitting = forms.filter(({ words }) => {
    if (bytes.length < words * 4 + 4) return false;
    const magic = new ByteReader(bytes, format, words * 4).u32le();
    return (magic & 0xffffff) === plainMagic || magic >>> 8 === encryptedMagic;
  });
  return fitting.find(({ lastBuild }) => build <= lastBuild) ?? fitting[0];
}

/**
 * Reads a manifest; of an encrypted one the header.
 * @throws E_FORMAT_MAGIC for other bytes, E_FORMAT… when the tables do not end where the bytes end
 */
export function decodeContentManifest(bytes: Uint8Array): ContentManifest {
  const form = findForm(bytes);
  if (form === undefined) {
    throw formatError('E_FORMAT_MAGIC', format, 'no header of any known form', { offset: 0, expected: '"cmf"' });
  }
  const reader = new ByteReader(bytes, format);
  const words = Array.from({ length: form.words }, () => reader.u32le());
  const magic = reader.u32le();
  const encrypted = magic >>> 8 === encryptedMagic;
  const header = {
    form: form.form,
    build: words[0] ?? 0,
    version: encrypted ? magic & 0xff : magic >>> 24,
    assetCount: words[form.assetsAt] ?? 0,
    entryCount: words[form.entriesAt] ?? 0,
    words,
  };
  if (encrypted) return { ...header, encrypted, body: reader.take(reader.remaining) };
  return { ...header, encrypted, ...readTables(reader, header) };
}

function readTables(
  reader: ByteReader,
  header: Omit<ContentManifestHeader, 'encrypted'>,
): Pick<PlainContentManifest, 'entries' | 'assets'> {
  const { entryCount, assetCount, build, form } = header;
  const assetStride = build >= wideAssets ? 29 : 28;
  const short = form === 'oldest' && entryCount * 12 + assetCount * assetStride === reader.remaining;
  const entries = reader.table(entryCount, short ? 12 : 20);
  const table = reader.table(assetCount, assetStride);
  reader.end();
  const assets = repeatable(function* () {
    for (const row of table) yield readAsset(new ByteReader(row, format));
  });
  return { entries, assets };
}

function readAsset(reader: ByteReader): ContentAsset {
  const guid = toHex(reader.take(8).toReversed());
  const size = reader.u32le();
  const unknown = reader.remaining > 16 ? reader.u8() : undefined;
  return { guid, size, ckey: reader.key(), ...(unknown !== undefined && { unknown }) };
}

interface ContentBase {
  form: ContentManifestForm;
  build: number;
  version: number;
  /** Every u32 before the magic; zeros where there are none. Those of the build and of counts are written as they are known. */
  words?: readonly number[];
}

/** A plain manifest to write. */
export interface PlainContentManifestContent extends ContentBase {
  encrypted?: false;
  /** The rows of entries, all of one size. */
  entries?: Iterable<Uint8Array>;
  assets: Iterable<ContentAsset>;
}

/** A manifest to write: a plain one, or an encrypted one as it was read. */
export type ContentManifestContent = PlainContentManifestContent | EncryptedContentManifest;

/** Writes a manifest. @throws E_FORMAT_RANGE for an id that is none, or entries of a wrong size */
export function encodeContentManifest(content: ContentManifestContent): Uint8Array {
  if (content.encrypted === true) {
    const magic = ((encryptedMagic << 8) | content.version) >>> 0;
    return writeHeader(content, magic).raw(content.body).bytes();
  }
  const entries = [...(content.entries ?? [])];
  const assets = [...content.assets];
  const magic = (plainMagic | (content.version << 24)) >>> 0;
  const writer = writeHeader({ ...content, assetCount: assets.length, entryCount: entries.length }, magic);
  for (const entry of entries) {
    if (entry.length !== 20 && !(entry.length === 12 && content.form === 'oldest')) {
      throw formatError('E_FORMAT_RANGE', format, 'entry of a wrong size', { expected: 20, found: entry.length });
    }
    writer.raw(entry);
  }
  for (const asset of assets) writeAsset(writer, asset, content.build);
  return writer.bytes();
}

function writeHeader(
  header: ContentBase & Pick<ContentManifestHeader, 'assetCount' | 'entryCount'>,
  magic: number,
): ByteWriter {
  const form = forms.find(({ form }) => form === header.form);
  if (form === undefined) throw formatError('E_FORMAT_RANGE', format, `no form ${header.form}`);
  const words = Array.from({ length: form.words }, (_, i) => header.words?.[i] ?? 0);
  words[0] = header.build;
  words[form.assetsAt] = header.assetCount;
  words[form.entriesAt] = header.entryCount;
  const writer = new ByteWriter(1024 + header.assetCount * 29);
  for (const word of words) writer.u32le(word);
  return writer.u32le(magic);
}

function writeAsset(writer: ByteWriter, { guid, size, ckey, unknown = 0 }: ContentAsset, build: number): void {
  if (!/^[0-9a-f]{16}$/.test(guid)) throw formatError('E_FORMAT_RANGE', format, `no id: ${guid.slice(0, 40)}`);
  writer.raw(fromHex(guid).reverse()).u32le(size);
  if (build >= wideAssets) writer.u8(unknown);
  writer.key(ckey);
}
