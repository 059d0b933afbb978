import { toHex } from '../../core/bytes.ts';
import { plural } from '../../core/quantities.ts';
import { emptyKeyRing, type KeyRing } from '../../formats/blte/keys.ts';
import type { BuildConfig, ManifestKeys } from '../../formats/configs/build-config.ts';
import { type Format, headSize, startsWith } from '../../formats/format.ts';
import type { Install } from '../../formats/manifests/install.ts';
import { diablo3RootFormat } from '../../formats/roots/diablo3/folder.ts';
import { decodeMndx, mndxFormat } from '../../formats/roots/mndx/decode.ts';
import { overwatchRootFormat } from '../../formats/roots/overwatch.ts';
import { textRootFormat } from '../../formats/roots/text.ts';
import { tvfsFormat } from '../../formats/roots/tvfs/layout.ts';
import { headerlessWowRootFormat, wowRootFormat } from '../../formats/roots/wow/decode.ts';
import { DerivedFile, readDerived } from '../../store/derived/derived-file.ts';
import type { EncodingFile } from '../manifests/encoding-file.ts';
import { optional } from '../objects.ts';
import { openInstallRoot } from './install.ts';
import { type NameRow, type Note, openNameTable } from './name-table.ts';
import type { Root } from './root.ts';
import { diablo3Rows } from './rows/diablo3.ts';
import { fileDbKeys, fileDbRows } from './rows/file-db.ts';
import { overwatchRows } from './rows/overwatch.ts';
import { textRows } from './rows/text.ts';
import { openTvfs, type TvfsPlace } from './tvfs.ts';
import { openUnknownRoot } from './unknown.ts';
import { openWowRoot } from './wow/wow.ts';

/** A build's objects, and where its look-up files go. */
export interface RootPlace extends Pick<TvfsPlace, 'folders' | 'listfile' | 'manifest' | 'loadPart' | 'onNote'> {
  config: BuildConfig;
  /** The decoded root as a derived file; undefined when the build names none, or no host has it. */
  file: string | undefined;
  encoding: EncodingFile;
  /** The decoded bytes of a manifest. */
  load: (keys: ManifestKeys) => Promise<Uint8Array>;
  install: () => Promise<Install | undefined>;
  /** For a root that is encrypted. Default: no keys. */
  keys?: KeyRing | undefined;
}

interface RootObject {
  file: string;
  ckey: string;
  size: number;
  /** Its first bytes. */
  head: Uint8Array;
}

type RootKind = readonly [
  kind: string,
  format: Format,
  open: (place: RootPlace, root: RootObject) => Promise<Root> | Root,
];

/** The kinds of roots, in the order in which they are tried: those with a magic, then those told by their shape. A new one is a line. */
const rootKinds: readonly RootKind[] = [
  ['wow', wowRootFormat, openWowRoot],
  ['tvfs', tvfsFormat, (place, { ckey }) => openTvfsAt(place, { ckey })],
  ['mndx', mndxFormat, named('mndx', (_, { file }) => mndxRows(readDerived(file)))],
  [
    'diablo3',
    diablo3RootFormat,
    named('diablo3', ({ load }, { file }, note) => diablo3Rows(readDerived(file), { load, note })),
  ],
  [
    'overwatch',
    overwatchRootFormat,
    named('overwatch', ({ loadPart }, { file }, note) => overwatchRows(readDerived(file), { load: loadPart, note })),
  ],
  ['text', textRootFormat, named('text', (_, { file }) => textRows(readDerived(file)))],
  ['wow', headerlessWowRootFormat, openWowRoot],
];

/**
 * Opens the names of a build. A `vfs-root` goes before the root, save for World of Warcraft. Where there is no root (absent, damaged on each host, a mere stub, a
 * program) the install manifest stands in; a root of no known kind leaves its names and bare content keys. Notes say so.
 * @throws E_FORMAT… for a root of a known kind that is damaged
 */
export async function openRoot(place: RootPlace): Promise<Root> {
  const { config } = place;
  const root = rootObject(place);
  const kind = kindOf(root);
  if (config.vfsRoot !== undefined && hasTvfsFirst(place)) {
    const tvfs = await optional(openTvfsAt(place, config.vfsRoot), place);
    return tvfs ?? openWithoutRoot(place, root, `vfs-root ${config.vfsRoot.ckey}`);
  }
  if (root !== undefined && kind !== undefined) return kind[2](place, root);
  const lacking = root === undefined && config.root !== undefined ? `root ${config.root.ckey}` : undefined;
  return openWithoutRoot(place, root, lacking);
}

async function openTvfsAt(place: RootPlace, root: ManifestKeys): Promise<Root> {
  const { folders, config, listfile, manifest, loadPart, onNote } = place;
  const numbered = [config.uid, config.product].some((name) => /^fenris/i.test(name ?? ''));
  return openTvfs({ folders, root, nested: config.vfs, numbered, listfile, manifest, loadPart, onNote });
}

/** The files of an MNDX root. A package says by its name which locale it is for, so every file is for all. @throws E_FORMAT… */
function* mndxRows(bytes: Uint8Array): Generator<NameRow> {
  for (const { name, ckey, size } of decodeMndx(bytes).files) {
    yield { name: name.replaceAll('\\', '/'), parts: [{ ckey, size }] };
  }
}

type Rows = (place: RootPlace, root: RootObject, note: Note) => AsyncIterable<NameRow> | Iterable<NameRow>;

function named(kind: string, rows: Rows): RootKind[2] {
  return (place, root) =>
    openNameTable({ folders: place.folders, kind, ckey: root.ckey, rows: (note) => rows(place, root, note) });
}

function isOf({ file, head }: RootObject, format: Format): boolean {
  return format.matches(format.needsAll === true ? readDerived(file) : head);
}

const startsAsProgram = startsWith('MZ');

/** Objects of up to 32 bytes are stubs; a program is the root of products that have no names to keep. */
function isNoRoot({ size, head }: RootObject): boolean {
  return size <= 32 || startsAsProgram(head);
}

function rootObject({ file, config }: Pick<RootPlace, 'file' | 'config'>): RootObject | undefined {
  return file === undefined || config.root === undefined ? undefined : readObject(file, config.root.ckey);
}

function kindOf(root: RootObject | undefined): RootKind | undefined {
  return root === undefined || isNoRoot(root) ? undefined : rootKinds.find(([, format]) => isOf(root, format));
}

/** True for a build whose `vfs-root` has its names: any that has one, save for World of Warcraft. @throws E_FORMAT_CHECKSUM */
export function hasTvfsFirst(place: Pick<RootPlace, 'file' | 'config'>): boolean {
  return place.config.vfsRoot !== undefined && kindOf(rootObject(place))?.[0] !== 'wow';
}

/** @param lacking what has the names and cannot be had, in words */
async function openWithoutRoot(
  place: RootPlace,
  root: RootObject | undefined,
  lacking: string | undefined,
): Promise<Root> {
  const install = await place.install();
  const none = root === undefined || isNoRoot(root);
  const names = install === undefined ? 'there are no names' : 'the names are those of the install manifest';
  const why = lacking === undefined ? whyNoRoot(root) : `E_NOT_FOUND: ${lacking} cannot be had`;
  const notes = [`${why}: ${names}; contents go by ckey:HEX or ekey:HEX`];
  const damaged = await place.encoding.damagedPages();
  if (damaged.length > 0)
    notes.push(
      `${plural(damaged.length, 'page', 'pages')} of the encoding file are damaged; what they list is left out`,
    );
  const database = await openFileDb(place);
  if (database !== undefined) return database;
  if (lacking !== undefined) place.onNote?.(`its ${lacking} cannot be had: ${names}.`);
  if (fileDbKeys(place.config) !== undefined)
    notes.push('E_NOT_FOUND: no host has its build-file-db, which has its names');
  if (none && install !== undefined) return openInstallRoot(install, notes);
  return openUnknownRoot(place.encoding, install && openInstallRoot(install, []), notes);
}

/** The file database in place of a root; undefined when there is none, or no host has it. */
async function openFileDb(place: RootPlace): Promise<Root | undefined> {
  const { config, folders, load, keys = emptyKeyRing } = place;
  const manifest = fileDbKeys(config);
  if (manifest === undefined) return undefined;
  const bytes = await optional(load(manifest), place);
  return bytes && openNameTable({ folders, kind: 'file-db', ckey: manifest.ckey, rows: () => fileDbRows(bytes, keys) });
}

function whyNoRoot(root: RootObject | undefined): string {
  if (root === undefined || isNoRoot(root)) return 'the build has no root';
  return `E_UNSUPPORTED: root ${root.ckey} is of no known kind, it starts with ${toHex(root.head.subarray(0, 8))}`;
}

function readObject(path: string, ckey: string): RootObject {
  const file = new DerivedFile(path);
  try {
    const { size } = file;
    return { file: path, ckey, size, head: file.read(0, Math.min(headSize, size)) };
  } finally {
    file.close();
  }
}
