import * as fs from 'node:fs';
import { toHex } from '../../core/bytes.ts';
import type { BuildConfig, ManifestKeys } from '../../formats/build-config.ts';
import type { Install } from '../../formats/install.ts';
import { isDiablo3Root } from '../../formats/roots/diablo3.ts';
import { isMndxRoot } from '../../formats/roots/mndx.ts';
import { isOverwatchRoot } from '../../formats/roots/overwatch.ts';
import { isTextRoot } from '../../formats/roots/text.ts';
import { isWowRoot } from '../../formats/roots/wow.ts';
import type { StoreLayout } from '../../store/layout.ts';
import type { ListfileIndex } from '../listfile-index.ts';
import { readAt } from '../positional.ts';
import { diablo3Rows } from './diablo3.ts';
import { openInstallRoot } from './install.ts';
import { mndxRows } from './mndx.ts';
import { type NameRow, openNameTable } from './name-table.ts';
import { overwatchRows } from './overwatch.ts';
import type { Root } from './root.ts';
import { textRows } from './text.ts';
import { openTvfs } from './tvfs.ts';
import { openUnknownRoot } from './unknown.ts';
import { openWowRoot } from './wow.ts';

/** What the root of a build is opened with. */
export interface RootPlace {
  layout: StoreLayout;
  config: BuildConfig;
  /** The decoded root as a file; undefined when the build names none, or no host has it. */
  file: string | undefined;
  /** The decoded encoding file. */
  encodingFile: string;
  listfile: ListfileIndex | undefined;
  /** The decoded bytes of a manifest. */
  load: (manifest: ManifestKeys) => Promise<Uint8Array>;
  install: () => Promise<Install | undefined>;
}

/** The object that the build config calls the root. */
interface RootObject {
  file: string;
  ckey: string;
  size: number;
  /** Its first bytes. */
  head: Uint8Array;
}

type RootKind = readonly [
  kind: string,
  fits: (root: RootObject) => boolean,
  open: (place: RootPlace, root: RootObject) => Promise<Root> | Root,
];

/** The kinds of roots, in the order in which they are tried: those with a magic, then those told by their shape. A new one is a line. */
const rootKinds: readonly RootKind[] = [
  ['wow', ({ head }) => isWowRoot(head), openWow],
  ['tvfs', magic('TVFS'), (place, { ckey }) => openTvfsAt(place, { ckey })],
  ['mndx', ({ head }) => isMndxRoot(head), named('mndx', (_, { file }) => mndxRows(readWhole(file)))],
  [
    'diablo3',
    ({ head }) => isDiablo3Root(head),
    named('diablo3', ({ load }, { file }) => diablo3Rows(readWhole(file), load)),
  ],
  [
    'overwatch',
    ({ head }) => isOverwatchRoot(head),
    named('overwatch', (_, { file }) => overwatchRows(readWhole(file))),
  ],
  ['text', ({ head }) => isTextRoot(head), named('text', (_, { file }) => textRows(readWhole(file)))],
  // Without a header it is known by its blocks alone, and they take the whole file.
  ['wow', ({ file }) => isWowRoot(readWhole(file)), openWow],
];

/**
 * Opens the names of a build. A `vfs-root` goes before the root, save for World of Warcraft. Where there is no root (absent, a mere stub, a
 * program) the install manifest stands in; a root of no known kind leaves its names and bare content keys. Notes say so.
 * @throws E_FORMAT… for a root of a known kind that is damaged
 */
export async function openRoot(place: RootPlace): Promise<Root> {
  const root = place.file === undefined ? undefined : readObject(place.file, place.config.root!.ckey);
  const kind = root === undefined || isNoRoot(root) ? undefined : rootKinds.find(([, fits]) => fits(root));
  const { vfsRoot } = place.config;
  if (vfsRoot !== undefined && kind?.[0] !== 'wow') return openTvfsAt(place, vfsRoot);
  if (root !== undefined && kind !== undefined) return kind[2](place, root);
  return openWithoutRoot(place, root);
}

function openWow({ layout, listfile }: RootPlace, { file, ckey }: RootObject): Root {
  return openWowRoot({ layout, file, ckey, listfile });
}

async function openTvfsAt({ layout, config, load }: RootPlace, root: ManifestKeys): Promise<Root> {
  return openTvfs({ layout, root, nested: config.vfs, load });
}

type Rows = (place: RootPlace, root: RootObject) => AsyncIterable<NameRow> | Iterable<NameRow>;

/** Opens a root that is a list of names. */
function named(kind: string, rows: Rows): RootKind[2] {
  return (place, root) => openNameTable({ layout: place.layout, kind, ckey: root.ckey, rows: () => rows(place, root) });
}

/** Objects of up to 32 bytes are stubs; a program is the root of products that have no names to keep. */
function isNoRoot(root: RootObject): boolean {
  return root.size <= 32 || magic('MZ')(root);
}

async function openWithoutRoot(place: RootPlace, root: RootObject | undefined): Promise<Root> {
  const install = await place.install();
  const none = root === undefined || isNoRoot(root);
  const names = install === undefined ? 'there are no names' : 'the names are those of the install manifest';
  const notes = [`${whyNoRoot(place, root)}: ${names}; contents go by ckey:HEX or ekey:HEX`];
  if (place.config.config.get('build-file-db') !== undefined) {
    notes.push('E_UNSUPPORTED: its names are in a build-file-db, whose layout is not known');
  }
  if (none && install !== undefined) return openInstallRoot(install, notes);
  return openUnknownRoot({
    encodingFile: place.encodingFile,
    installed: install && openInstallRoot(install, []),
    notes,
  });
}

function whyNoRoot({ config }: RootPlace, root: RootObject | undefined): string {
  if (root === undefined && config.root !== undefined) return `E_NOT_FOUND: no host has root ${config.root.ckey}`;
  if (root === undefined || isNoRoot(root)) return 'the build has no root';
  return `E_UNSUPPORTED: root ${root.ckey} is of no known kind, it starts with ${toHex(root.head.subarray(0, 8))}`;
}

function magic(text: string): (root: RootObject) => boolean {
  return ({ head }) => [...text].every((character, i) => head[i] === character.charCodeAt(0));
}

function readWhole(file: string): Uint8Array {
  return new Uint8Array(fs.readFileSync(file));
}

function readObject(file: string, ckey: string): RootObject {
  const fd = fs.openSync(file, 'r');
  try {
    const { size } = fs.fstatSync(fd);
    return { file, ckey, size, head: readAt(fd, 0, Math.min(4096, size), 'root') };
  } finally {
    fs.closeSync(fd);
  }
}
