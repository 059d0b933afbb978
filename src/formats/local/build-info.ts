// .build.info: what is installed in the folder of a game. A table as the version service has them (bpsv.ts), a row for each
// branch or product that shares the folder.
//
//   Branch!STRING:0     region or branch: us, eu
//   Active!DEC:1        1: the game starts this row
//   Build Key!HEX:16    build config
//   CDN Key!HEX:16      CDN config
//   Install Key!HEX:16  ekey of the install manifest        IM Size!DEC:4  its encoded size
//   CDN Path!STRING:0   tpr/wow; with a slash in front in 2014
//   CDN Hosts, CDN Servers, Tags, Armadillo, Last Activated, Version, KeyRing, Product, Build Complete
//
// KeyRing, Product and CDN Servers are absent in old ones. Known from wowdev.wiki (CASC) and checked on real files of 2014 and 2018.

import { isKeyHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { type Bpsv, type BpsvColumn, type BpsvRow, cell, decodeBpsv, encodeBpsv } from '../services/bpsv.ts';

/** A build that an installation names. Keys are lower-case hex; what the row does not say is undefined. */
export interface InstalledBuild {
  readonly branch?: string | undefined;
  /** Whether the game starts this one. */
  readonly active: boolean;
  readonly buildKey: string;
  readonly cdnKey?: string | undefined;
  readonly installKey?: string | undefined;
  /** Without slashes at its ends. */
  readonly cdnPath?: string | undefined;
  readonly hosts: readonly string[];
  /** The choice of files that was installed: tags, in groups between `:`. */
  readonly tags?: string | undefined;
  /** Name of the key that locks the objects on the CDN. */
  readonly armadillo?: string | undefined;
  readonly version?: string | undefined;
  readonly keyRing?: string | undefined;
  readonly product?: string | undefined;
  /** All cells of its row, for columns that have no name here. */
  readonly row?: BpsvRow;
}

/** The builds that an installation names. */
export interface BuildInfo {
  readonly builds: readonly InstalledBuild[];
  /** The table that was read. */
  readonly table?: Bpsv;
}

const what = '.build.info';

/**
 * Reads the table. Rows without a build key, which name nothing that could be read, are left out.
 * @throws E_FORMAT when it is no table, has no column `Build Key` or a key that is none
 */
export function decodeBuildInfo(bytes: Uint8Array): BuildInfo {
  const table = decodeBpsv(bytes);
  if (!hasColumn(table.columns, 'Build Key')) {
    throw formatError('E_FORMAT', what, 'it has no column for the build', { expected: 'Build Key' });
  }
  const builds = table.rows.flatMap((row) => {
    const buildKey = keyCell(row, 'Build Key');
    return buildKey === undefined ? [] : [{ ...decodeRow(row, buildKey), row }];
  });
  return { builds, table };
}

function hasColumn(columns: readonly BpsvColumn[], wanted: string): boolean {
  return columns.some(({ name }) => name.toLowerCase() === wanted.toLowerCase());
}

function decodeRow(row: BpsvRow, buildKey: string): InstalledBuild {
  return {
    branch: cell(row, 'Branch'),
    active: cell(row, 'Active') === '1',
    buildKey,
    cdnKey: keyCell(row, 'CDN Key'),
    installKey: keyCell(row, 'Install Key'),
    cdnPath: cell(row, 'CDN Path')?.replace(/^\/+|\/+$/g, ''),
    hosts: (cell(row, 'CDN Hosts') ?? '').split(/\s+/).filter(Boolean),
    tags: cell(row, 'Tags'),
    armadillo: cell(row, 'Armadillo'),
    version: cell(row, 'Version'),
    keyRing: keyCell(row, 'KeyRing'),
    product: cell(row, 'Product'),
  };
}

function keyCell(row: BpsvRow, name: string): string | undefined {
  const value = cell(row, name);
  if (value === undefined) return undefined;
  if (!isKeyHex(value)) throw formatError('E_FORMAT', what, `"${name}" is no key`, { expected: '32 hex digits' });
  return value.toLowerCase();
}

const usualHeader =
  'Branch!STRING:0|Active!DEC:1|Build Key!HEX:16|CDN Key!HEX:16|Install Key!HEX:16|CDN Path!STRING:0|CDN Hosts!STRING:0|' +
  'Tags!STRING:0|Armadillo!STRING:0|Version!STRING:0|KeyRing!HEX:16|Product!STRING:0';
const usualColumns = decodeBpsv(new TextEncoder().encode(usualHeader)).columns;

/**
 * Writes the table. Builds that were read keep what their rows have besides; a value that was not changed stays as it was written.
 * Rows that name no build are not among the builds.
 * @throws E_FORMAT when a value holds a bar or a line break
 */
export function encodeBuildInfo({ builds, table }: BuildInfo): Uint8Array {
  const rows = builds.map(rowOf);
  if (table === undefined) return encodeBpsv({ columns: usualColumns, seqn: undefined, rows });
  const added = usualColumns.filter(({ name }) => !hasColumn(table.columns, name) && rows.some((row) => row[name]));
  return encodeBpsv({ ...table, columns: [...table.columns, ...added], rows });
}

function rowOf(build: InstalledBuild): BpsvRow {
  const { row } = build;
  if (row === undefined) return cellsOf(build);
  const before = cellsOf(decodeRow(row, keyCell(row, 'Build Key') ?? ''));
  const changed = Object.entries(cellsOf(build)).filter(([name, text]) => text !== before[name]);
  return { ...row, ...Object.fromEntries(changed.map(([name, text]) => [columnName(row, name), text])) };
}

function columnName(row: BpsvRow, name: string): string {
  return Object.keys(row).find((key) => key.toLowerCase() === name.toLowerCase()) ?? name;
}

function cellsOf(build: InstalledBuild): BpsvRow {
  return {
    Branch: build.branch ?? '',
    Active: build.active ? '1' : '0',
    'Build Key': build.buildKey,
    'CDN Key': build.cdnKey ?? '',
    'Install Key': build.installKey ?? '',
    'CDN Path': build.cdnPath ?? '',
    'CDN Hosts': build.hosts.join(' '),
    Tags: build.tags ?? '',
    Armadillo: build.armadillo ?? '',
    Version: build.version ?? '',
    KeyRing: build.keyRing ?? '',
    Product: build.product ?? '',
  };
}
