import { toHex } from '../core/bytes.ts';
import { isPakratError, PakratError } from '../core/errors.ts';
import { md5Hex } from '../core/hash.ts';
import { armadillo } from '../formats/armadillo.ts';
import { blteFormat } from '../formats/blte/header.ts';
import { emptyKeyRing, type KeyRing } from '../formats/blte/keys.ts';
import { buildConfigFormat } from '../formats/configs/build-config.ts';
import { cdnConfigFormat } from '../formats/configs/cdn-config.ts';
import { configFormat } from '../formats/configs/config-file.ts';
import { keyListFormat, keyRingFormat } from '../formats/configs/key-list.ts';
import { patchConfigFormat } from '../formats/configs/patch-config.ts';
import { productConfigFormat } from '../formats/configs/product-config.ts';
import type { Format } from '../formats/format.ts';
import { archiveIndexFormat } from '../formats/indices/archive-index.ts';
import { localDataFormat } from '../formats/local/local-header.ts';
import { localIndexFormat } from '../formats/local/local-index.ts';
import { shmemFormat } from '../formats/local/local-shmem.ts';
import { downloadFormat } from '../formats/manifests/download.ts';
import { encodingFormat } from '../formats/manifests/encoding/pages.ts';
import { installFormat } from '../formats/manifests/install.ts';
import { sizeFormat } from '../formats/manifests/size.ts';
import { patchIndexFormat } from '../formats/patches/patch-index.ts';
import { patchManifestFormat } from '../formats/patches/patch-manifest.ts';
import { zbsdiffFormat } from '../formats/patches/zbsdiff.ts';
import { contentManifestFormat } from '../formats/roots/content-manifest.ts';
import { diablo3PackagesFormat, diablo3TocFormat } from '../formats/roots/diablo3/core-toc.ts';
import { diablo3FolderFormat, diablo3RootFormat } from '../formats/roots/diablo3/folder.ts';
import { diablo4TocFormat, olderDiablo4TocFormat } from '../formats/roots/diablo4/core-toc.ts';
import {
  encryptedNamesFormat,
  encryptedSnosFormat,
  sharedPayloadsFormat,
} from '../formats/roots/diablo4/side-tables.ts';
import { listfileFormat } from '../formats/roots/listfile.ts';
import { mndxFormat } from '../formats/roots/mndx/decode.ts';
import { marFormat } from '../formats/roots/mndx/trie.ts';
import { overwatchRootFormat } from '../formats/roots/overwatch.ts';
import { packageManifestFormat } from '../formats/roots/package-manifest.ts';
import { textRootFormat } from '../formats/roots/text.ts';
import { tvfsFormat } from '../formats/roots/tvfs/layout.ts';
import { headerlessWowRootFormat, wowRootFormat } from '../formats/roots/wow/decode.ts';
import { bpsvFormat } from '../formats/services/bpsv.ts';
import { ribbitFormat } from '../formats/services/ribbit-mime.ts';
import * as archives from './describe/archives.ts';
import * as assets from './describe/asset-roots.ts';
import type { Cell, Description, Fact, RowTable } from './describe/description.ts';
import * as local from './describe/local.ts';
import { describeDownload, describeEncoding, describeInstall, describeSize } from './describe/manifests.ts';
import { describeArchiveIndex, describeBlte } from './describe/objects.ts';
import { describePatchIndex, describePatchManifest, describeZbsdiff } from './describe/patches.ts';
import * as roots from './describe/roots.ts';
import * as texts from './describe/texts.ts';

/** A format that `inspect` knows, and what is said of its objects. */
type Described = readonly [format: Format, describe: (bytes: Uint8Array, keys: KeyRing) => Description];

/** The formats, in the order in which they are tried: those with a magic, then those told by their shape. A new one is a line. */
const formats: readonly Described[] = [
  [archives.archiveFormat, archives.describeArchive],
  [blteFormat, describeBlte],
  [encodingFormat, describeEncoding],
  [installFormat, describeInstall],
  [downloadFormat, describeDownload],
  [sizeFormat, describeSize],
  [tvfsFormat, roots.describeTvfs],
  [wowRootFormat, roots.describeWowRoot],
  [mndxFormat, roots.describeMndx],
  [marFormat, roots.describeMar],
  [diablo3RootFormat, assets.describeDiablo3Root],
  [diablo3FolderFormat, assets.describeDiablo3Folder],
  [diablo3PackagesFormat, assets.describePackages],
  [diablo4TocFormat, assets.describeDiablo4Toc],
  [encryptedSnosFormat, assets.describeEncryptedSnos],
  [encryptedNamesFormat, assets.describeEncryptedNames],
  [sharedPayloadsFormat, assets.describeSharedPayloads],
  [contentManifestFormat, assets.describeContentManifest],
  [patchManifestFormat, describePatchManifest],
  [zbsdiffFormat, describeZbsdiff],
  [patchIndexFormat, describePatchIndex],
  [localIndexFormat, local.describeLocalIndex],
  [localDataFormat, local.describeLocalData],
  [shmemFormat, local.describeShmem],
  [archives.pakFormat, archives.describePak],
  [archives.packlistFormat, archives.describePacklist],
  [ribbitFormat, texts.describeRibbit],
  [bpsvFormat, texts.describeBpsv],
  [keyRingFormat, texts.describeKeyRing],
  [buildConfigFormat, texts.describeBuildConfig],
  [cdnConfigFormat, texts.describeCdnConfig],
  [patchConfigFormat, texts.describePatchConfig],
  [configFormat, texts.describeConfig],
  [keyListFormat, texts.describeKeyList],
  [listfileFormat, texts.describeListfile],
  [texts.especsFormat, texts.describeEspecs],
  [overwatchRootFormat, roots.describeOverwatch],
  [textRootFormat, roots.describeTextRoot],
  [productConfigFormat, texts.describeProductConfig],
  [archiveIndexFormat, describeArchiveIndex],
  [headerlessWowRootFormat, roots.describeWowRoot],
  [packageManifestFormat, assets.describePackageManifest],
  [diablo3TocFormat, assets.describeDiablo3Toc],
  [olderDiablo4TocFormat, assets.describeDiablo4Toc],
];

/** Numbers of rows, from 0, both ends included. */
export interface RowRange {
  first: number;
  last: number;
}

/** Rows of a table of an object. */
export interface InspectedRows {
  what: string;
  count: number;
  first: number;
  columns: readonly string[];
  rows: Record<string, Cell>[];
}

/** An object described, as plain JSON. */
export interface Inspection {
  /** `unknown` when nothing fits. */
  format: string;
  size: number;
  md5: string;
  facts: Record<string, Fact>;
  /** The rows asked for, and how many there are. */
  table?: InspectedRows;
  /** The same of its other tables, where it has several. */
  more?: InspectedRows[];
  /** The object that is wrapped in it. */
  inside?: Inspection;
  /** The error that keeps what is wrapped in it from being shown. */
  problem?: { code: string; message: string };
  /** The hash of it that it is called by: its `MD5`, `ekey`, …. */
  nameIs?: string;
  /** Said when that name is nothing of it, or it is not what it says itself. */
  mismatch?: { code: string; message: string };
}

/** The keys and the name that are known of an object, and the part of it that is shown. */
export interface InspectOptions {
  /** Keys for encrypted chunks. Default none. */
  keys?: KeyRing | undefined;
  /** Rows to show, of the innermost table. Default the first ten. */
  rows?: RowRange | undefined;
  /** Leave what is wrapped wrapped, and show the wrapping. */
  encoded?: boolean | undefined;
  /** Name of the object: 32 hex digits are compared with what such an object may be called. */
  name?: string | undefined;
}

/** A hash, whatever stands behind a dot. */
const hashName = /^([0-9a-f]{32})(?:\.[\w.-]+)?$/i;

/** Wrappings inside wrappings that are opened. */
const maxDepth = 4;

/**
 * Guesses what some bytes are and describes them; what is wrapped in them, too.
 * @throws E_FORMAT…, E_INTEGRITY when they are of a known format and damaged
 */
export function inspectBytes(bytes: Uint8Array, options: InspectOptions = {}): Inspection {
  const names: Record<string, string> = {};
  const inspection = describeAll(names, bytes, options);
  const [, name] = hashName.exec(options.name ?? '') ?? [];
  if (name === undefined || inspection.format === 'archive') return inspection;
  return compareName(inspection, { name: name.toLowerCase(), names, whole: options.encoded !== true });
}

/** A hash in an object that does not match is damage like any other hash: with one code, whichever format has it. */
function describeAll(names: Record<string, string>, bytes: Uint8Array, options: InspectOptions): Inspection {
  try {
    return inspectInto(names, bytes, options, 0);
  } catch (error) {
    if (!isPakratError(error) || error.code !== 'E_FORMAT_CHECKSUM') throw error;
    const { message, hint, data } = error;
    throw new PakratError('E_INTEGRITY', message, { hint, data, cause: error });
  }
}

/** @param names gets what the object may be called, by what it is of it */
function inspectInto(
  names: Record<string, string>,
  bytes: Uint8Array,
  options: InspectOptions,
  depth: number,
): Inspection {
  const [{ name }, describe] =
    formats.find(([format]) => format.matches(bytes)) ?? ([{ name: 'unknown' }, describeUnknown] as const);
  const { facts, table, more = [], inside, problem, names: own = {} } = describe(bytes, options.keys ?? emptyKeyRing);
  const result: Inspection = { format: name, size: bytes.length, md5: md5Hex(bytes), facts };
  if (depth === 0) Object.assign(names, own, { MD5: result.md5 });
  if (depth === 1) names['MD5 of what is inside'] = result.md5;
  const opened = inside !== undefined && options.encoded !== true && depth < maxDepth ? open(inside) : {};
  if (opened.problem !== undefined) result.problem = opened.problem;
  if (problem !== undefined) result.mismatch = { code: problem.code, message: problem.message };
  if (opened.bytes !== undefined) result.inside = inspectInto(names, opened.bytes, options, depth + 1);
  else if (table !== undefined) {
    const range = options.rows ?? { first: 0, last: 9 };
    result.table = rowsOf(table, range);
    if (more.length > 0) result.more = more.map((other) => rowsOf(other, range));
  }
  return result;
}

/**
 * As {@link inspectBytes}, for an object that is encrypted as a whole. Its name says how, and what comes out is compared with it.
 * @throws E_USAGE for an object that is not called by a hash
 */
export function inspectEncrypted(bytes: Uint8Array, key: Uint8Array, options: InspectOptions): Inspection {
  const [, hash] = hashName.exec(options.name ?? '') ?? [];
  if (hash === undefined) {
    throw new PakratError('E_USAGE', 'an object that is encrypted as a whole has to be called by its hash', {
      hint: 'Give its file the name that it has on the CDN.',
    });
  }
  const inside = inspectBytes(armadillo(bytes, { key, hash, offset: 0 }), options);
  return { format: 'Armadillo object', size: bytes.length, md5: md5Hex(bytes), facts: {}, inside };
}

/** A name that is nothing of the object means damage, unless what is inside was not seen: it may be the MD5 of that. */
function compareName(
  inspection: Inspection,
  { name, names, whole }: { name: string; names: Record<string, string>; whole: boolean },
): Inspection {
  const nameIs = Object.entries(names).find(([, known]) => known === name)?.[0];
  if (nameIs !== undefined) return { ...inspection, nameIs };
  if (!whole || problemOf(inspection) !== undefined) return inspection;
  const encrypted = inspection.format === 'unknown' ? ', or encrypted as a whole (then --key takes its NAME.ak)' : '';
  const message = `it is called ${name}, and that is no hash of it: it is damaged, or another object${encrypted}`;
  return { ...inspection, mismatch: { code: 'E_INTEGRITY', message } };
}

/** The fault of an object, wherever it is wrapped: undefined when all could be shown, and is what it is called. */
export function problemOf({ problem, inside, mismatch }: Inspection): Inspection['problem'] {
  return mismatch ?? problem ?? (inside && problemOf(inside));
}

function describeUnknown(bytes: Uint8Array): Description {
  const start = bytes.subarray(0, 32);
  const text = [...start].map((byte) => (byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
  return { facts: { start: toHex(start), text } };
}

function open(inside: () => Uint8Array): { bytes?: Uint8Array; problem?: { code: string; message: string } } {
  try {
    return { bytes: inside() };
  } catch (error) {
    if (!isPakratError(error)) throw error;
    const code = error.code === 'E_FORMAT_CHECKSUM' ? 'E_INTEGRITY' : error.code;
    return { problem: { code, message: error.message } };
  }
}

function rowsOf(table: RowTable, { first, last }: RowRange): InspectedRows {
  const { what, columns, count } = table;
  const rows: Record<string, Cell>[] = [];
  if (first < count) {
    for (const cells of table.rows(first)) {
      rows.push(Object.fromEntries(columns.map((name, i) => [name, cells[i]])));
      if (first + rows.length > last) break;
    }
  }
  return { what, count, first, columns, rows };
}
