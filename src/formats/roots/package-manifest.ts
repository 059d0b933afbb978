// The package manifest of Overwatch (TactManifest/….apm): which packages the assets come in. Never encrypted. Little-endian.
//
//   24919   u64 unknown, u32 build, u32 packages, u32 entries, u32 magic (66 6d 63 vv or 63 6d 66 vv)                    24 bytes
//   47161   u64 build, 3 u32 zero, u32 packages, u32 zero, u32 entries, u32 magic or checksum                           36 bytes
//   52320   u64 build, 4 u32, u32 packages, u32, u32 entries, u32 magic or checksum                                     40 bytes
//   entries, each u32 number, u64 hash, u64 hash; in 24919 u32, u64
//   packages, of a size that goes with the header: 72 with 24, 72 or 32 with 36, 24 with 40
//     72   u64 entry point, u64 id, u64 second id, u64 key, u64 id of the package, u32, u32 size, u64, ckey [16]
//     32   u64 id of the package, u64, 4 u32
//     24   u64 id of the package, u64 key, 2 u32
//
// Readers do not agree which builds have which packages, and no real manifest was at hand: the one form is taken whose tables end exactly
// where the bytes end.

import { fromHex, toHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { ByteReader, repeatable } from '../../core/reader.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { Format } from '../format.ts';

const format = 'package manifest';
/** No build has a higher number; a higher one is other bytes. */
const maxBuild = 0xffffff;

interface Header {
  size: PackageManifestForm['headerSize'];
  packageSizes: readonly PackageManifestForm['packageSize'][];
  /** The first build that may have it. */
  since: number;
  /** Offsets of u32s; `zeros` are of those that are zero. */
  at: { build: number; packages: number; entries: number; zeros: readonly number[] };
}

const headers: readonly Header[] = [
  { size: 24, packageSizes: [72], since: 1, at: { build: 8, packages: 12, entries: 16, zeros: [] } },
  {
    size: 36,
    packageSizes: [72, 32],
    since: 24920,
    at: { build: 0, packages: 20, entries: 28, zeros: [4, 8, 12, 16, 24] },
  },
  { size: 40, packageSizes: [24], since: 47162, at: { build: 0, packages: 24, entries: 32, zeros: [4] } },
];

function entrySizeOf(headerSize: Header['size']): number {
  return headerSize === 24 ? 12 : 20;
}

/** Sizes of the header and of a package, which go together. */
export interface PackageManifestForm {
  headerSize: 24 | 36 | 40;
  packageSize: 72 | 32 | 24;
}

interface PackageFields {
  guidAt: number;
  keyNameAt?: number;
  content?: { sizeAt: number; ckeyAt: number };
}

const fieldsOf: Record<PackageManifestForm['packageSize'], PackageFields> = {
  72: { keyNameAt: 24, guidAt: 32, content: { sizeAt: 44, ckeyAt: 56 } },
  32: { guidAt: 0 },
  24: { guidAt: 0, keyNameAt: 8 },
};

/** A package. */
export interface AssetPackage {
  /** 16 lower-case hex digits, highest first. */
  guid: string;
  /** Name of its key, as it is written; all zeros for none. Undefined where packages have no word of it. */
  keyName?: string;
  /** The content and its size, of packages of 72 bytes. */
  content?: { ckey: string; size: number };
  /** Its row as it is: fields that have no name here are taken from it. */
  row?: Uint8Array;
}

/** A decoded manifest. Tables stay bytes; packages are made while iterating. */
export interface PackageManifest extends PackageManifestForm {
  build: number;
  /** The header as it is, counts among it. */
  header: Uint8Array;
  entries: RecordTable;
  packageCount: number;
  packages: Iterable<AssetPackage>;
}

function findLayout(
  bytes: Uint8Array,
): (PackageManifestForm & { build: number; entryCount: number; packageCount: number }) | undefined {
  for (const { size: headerSize, packageSizes, since, at } of headers) {
    if (bytes.length < headerSize) continue;
    const word = (offset: number): number => new ByteReader(bytes, format, offset).u32le();
    const [build, packageCount, entryCount] = [word(at.build), word(at.packages), word(at.entries)];
    const isBuild = build >= since && build <= maxBuild;
    if (!isBuild || packageCount === 0 || at.zeros.some((offset) => word(offset) !== 0)) continue;
    const left = bytes.length - headerSize - entryCount * entrySizeOf(headerSize);
    const packageSize = packageSizes.find((size) => packageCount * size === left);
    if (packageSize !== undefined) return { headerSize, packageSize, build, entryCount, packageCount };
  }
  return undefined;
}

/** Told by its size, which the counts of some header make up. */
export const packageManifestFormat: Format = {
  name: format,
  needsAll: true,
  matches: (bytes) => findLayout(bytes) !== undefined,
};

/** Reads a manifest. @throws E_FORMAT when the bytes fit no form */
export function decodePackageManifest(bytes: Uint8Array): PackageManifest {
  const layout = findLayout(bytes);
  if (layout === undefined) throw formatError('E_FORMAT', format, 'of no known form, or cut off');
  const { headerSize, packageSize, build, entryCount, packageCount } = layout;
  const reader = new ByteReader(bytes, format);
  const header = reader.take(headerSize);
  const entries = reader.table(entryCount, entrySizeOf(headerSize));
  const rows = reader.table(packageCount, packageSize);
  reader.end();
  const packages = repeatable(function* () {
    for (const row of rows) yield readPackage(row, fieldsOf[packageSize]);
  });
  return { headerSize, packageSize, build, header, entries, packageCount, packages };
}

function readPackage(row: Uint8Array, { guidAt, keyNameAt, content }: PackageFields): AssetPackage {
  const id = (at: number): string => toHex(row.subarray(at, at + 8).toReversed());
  return {
    guid: id(guidAt),
    ...(keyNameAt !== undefined && { keyName: id(keyNameAt) }),
    ...(content !== undefined && {
      content: {
        size: new ByteReader(row, format, content.sizeAt).u32le(),
        ckey: new ByteReader(row, format, content.ckeyAt).key(),
      },
    }),
    row,
  };
}

/** A manifest to write. */
export interface PackageManifestContent extends PackageManifestForm {
  build: number;
  /** The words that are not build and counts; zeros when absent. */
  header?: Uint8Array;
  /** Rows of entries: 12 bytes with the header of 24, else 20. */
  entries?: Iterable<Uint8Array>;
  packages: Iterable<AssetPackage>;
}

/** Writes a manifest; fields of packages that have no name here are zero, where there is no row of them. @throws E_FORMAT_RANGE for what does not fit the form */
export function encodePackageManifest(content: PackageManifestContent): Uint8Array {
  const { headerSize } = content;
  const form = headers.find(({ size }) => size === headerSize);
  if (form === undefined) throw formatError('E_FORMAT_RANGE', format, `no header of ${headerSize} bytes`);
  const entries = [...(content.entries ?? [])];
  const packages = [...content.packages];
  const wrong = entries.find(({ length }) => length !== entrySizeOf(headerSize));
  const fits = form.packageSizes.includes(content.packageSize);
  if (wrong !== undefined || !fits || (content.header?.length ?? headerSize) !== headerSize) {
    throw formatError('E_FORMAT_RANGE', format, 'header, entry or package of a wrong size');
  }
  const header = new Uint8Array(headerSize);
  if (content.header !== undefined) header.set(content.header);
  const view = new DataView(header.buffer);
  view.setUint32(form.at.build, content.build, true);
  view.setUint32(form.at.packages, packages.length, true);
  view.setUint32(form.at.entries, entries.length, true);
  const writer = new ByteWriter().raw(header);
  for (const entry of entries) writer.raw(entry);
  for (const each of packages) writer.raw(writePackage(each, content.packageSize));
  return writer.bytes();
}

function writePackage(each: AssetPackage, size: PackageManifestForm['packageSize']): Uint8Array {
  const { guid, keyName, content } = each;
  const fields = fieldsOf[size];
  const row = new Uint8Array(size);
  if (each.row?.length === size) row.set(each.row);
  row.set(idBytes(guid), fields.guidAt);
  if (fields.keyNameAt !== undefined && keyName !== undefined) row.set(idBytes(keyName), fields.keyNameAt);
  if (fields.content === undefined) return row;
  if (content === undefined) throw formatError('E_FORMAT_RANGE', format, `package ${guid} has no content`);
  new DataView(row.buffer).setUint32(fields.content.sizeAt, content.size, true);
  row.set(fromHex(content.ckey), fields.content.ckeyAt);
  return row;
}

function idBytes(text: string): Uint8Array {
  if (!/^[0-9a-f]{16}$/.test(text)) throw formatError('E_FORMAT_RANGE', format, `no id: ${text.slice(0, 40)}`);
  return fromHex(text).reverse();
}
