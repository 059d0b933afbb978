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
import { type BpsvColumn, type BpsvRow, cell, decodeBpsv, encodeBpsv } from '../services/bpsv.ts';

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
}

const what = '.build.info';

/**
 * Reads the table. Rows without a build key, which name nothing that could be read, are left out.
 * @throws E_FORMAT when it is no table, has no column `Build Key` or a key that is none
 */
export function decodeBuildInfo(bytes: Uint8Array): InstalledBuild[] {
  const { columns, rows } = decodeBpsv(bytes);
  if (!columns.some(({ name }) => name.toLowerCase() === 'build key')) {
    throw formatError('E_FORMAT', what, 'it has no column for the build', { expected: 'Build Key' });
  }
  return rows.flatMap((row) => {
    const buildKey = keyCell(row, 'Build Key');
    return buildKey === undefined ? [] : [decodeRow(row, buildKey)];
  });
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

const columns: readonly BpsvColumn[] = [
  { name: 'Branch', type: 'STRING', size: 0 },
  { name: 'Active', type: 'DEC', size: 1 },
  { name: 'Build Key', type: 'HEX', size: 16 },
  { name: 'CDN Key', type: 'HEX', size: 16 },
  { name: 'Install Key', type: 'HEX', size: 16 },
  { name: 'CDN Path', type: 'STRING', size: 0 },
  { name: 'CDN Hosts', type: 'STRING', size: 0 },
  { name: 'Tags', type: 'STRING', size: 0 },
  { name: 'Armadillo', type: 'STRING', size: 0 },
  { name: 'Version', type: 'STRING', size: 0 },
  { name: 'KeyRing', type: 'HEX', size: 16 },
  { name: 'Product', type: 'STRING', size: 0 },
];

/** Writes the table. @throws E_FORMAT when a value holds a bar or a line break */
export function encodeBuildInfo(builds: readonly InstalledBuild[]): Uint8Array {
  const rows = builds.map(
    (build): BpsvRow => ({
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
    }),
  );
  return encodeBpsv({ columns, seqn: undefined, rows });
}
