import { md5Hex } from '../../core/hash.ts';
import { type ConfigEntry, encodeConfig } from '../../formats/configs/config-file.ts';
import { encodeKeyRing, type TactKey } from '../../formats/configs/key-list.ts';
import { type BpsvRow, decodeBpsv, encodeBpsv } from '../../formats/services/bpsv.ts';
import type { Manifests } from '../encode/encode-content.ts';
import type { RootKind } from '../files/publish-file.ts';
import type { DataObjects } from '../objects/archive-writer.ts';
import type { BuildPatches } from '../objects/patch-writer.ts';

/** What a build is called. */
export interface BuildName {
  /** Product code, such as `wow_classic_era`. */
  product: string;
  /** Version name, such as `1.15.7.61582`. */
  version: string;
  buildId: number;
}

/** A config and its name: the MD5 of its bytes, lower-case hex. */
export interface NamedConfig {
  name: string;
  bytes: Uint8Array;
}

/** Writes the build config. The root goes by its ckey alone, as in real ones; a TVFS is named with its ekey, too, where readers look for one. */
export function makeBuildConfig(
  { product, version, buildId }: BuildName,
  manifests: Manifests,
  patches?: BuildPatches,
  rootKind: RootKind = 'wow',
): NamedConfig {
  const { root, ...others } = manifests;
  const entries = [line('root', root.ckey)];
  if (rootKind === 'tvfs') {
    entries.push(line('vfs-root', root.ckey, root.ekey), line('vfs-root-size', root.size, root.encodedSize));
  }
  for (const [key, { ckey, ekey, size, encodedSize }] of Object.entries(others)) {
    entries.push(line(key, ckey, ekey), line(`${key}-size`, size, encodedSize));
  }
  if (patches !== undefined) {
    const { manifest, config } = patches;
    entries.push(line('patch', manifest.name), line('patch-size', manifest.size), line('patch-config', config));
  }
  // Some readers take the number of the build out of its name.
  entries.push(line('build-name', `${product.toUpperCase()}-${buildId}patch${version}`));
  entries.push(line('build-uid', product), line('build-product', product));
  return named(encodeConfig({ entries, title: 'Build Configuration' }));
}

/** Writes the CDN config. @param content.builds build configs, newest first */
export function makeCdnConfig(
  data: DataObjects,
  { patches, builds }: { patches?: DataObjects | undefined; builds: readonly string[] },
): NamedConfig {
  const entries = [...objectLines(data), ...(patches === undefined ? [] : objectLines(patches, 'patch-'))];
  return named(encodeConfig({ entries: [...entries, line('builds', ...builds)], title: 'CDN Configuration' }));
}

function objectLines({ archives, archiveGroup, fileIndex }: DataObjects, prefix = ''): ConfigEntry[] {
  return [
    line(`${prefix}archives`, ...archives.map(({ name }) => name)),
    line(`${prefix}archives-index-size`, ...archives.map(({ indexSize }) => indexSize)),
    ...(archiveGroup === undefined ? [] : [line(`${prefix}archive-group`, archiveGroup)]),
    ...(fileIndex === undefined ? [] : [line(`${prefix}file-index`, fileIndex.name)]),
    ...(fileIndex === undefined ? [] : [line(`${prefix}file-index-size`, fileIndex.size)]),
  ];
}

/** Writes the product config: the little that readers look for. */
export function makeProductConfig(product: string, locales: readonly string[]): NamedConfig {
  const config = { product, data_dir: 'Data/', supported_locales: locales, tags: [] };
  return named(new TextEncoder().encode(JSON.stringify({ all: { config }, platform: {} })));
}

/** Writes a key ring. */
export function makeKeyRing(keys: readonly TactKey[]): NamedConfig {
  return named(encodeKeyRing(keys));
}

/** What the `versions` and `cdns` of a product say, the same for every region. */
export interface ServiceAnswer extends BuildName {
  buildConfig: string;
  cdnConfig: string;
  productConfig: string;
  /** Name of the key ring; empty without one. */
  keyRing: string;
  regions: readonly string[];
  /** Must rise with each answer, or clients take it for a stale one. */
  seqn: number;
  cdnPath: string;
  configPath: string;
  /** `host` or `host:port`. */
  hosts: readonly string[];
}

/** Writes the `versions` table. @param answers of one product, each with regions of its own */
export function makeVersions(...answers: readonly ServiceAnswer[]): Uint8Array {
  const columns = columnsOf(
    'Region!STRING:0|BuildConfig!HEX:16|CDNConfig!HEX:16|KeyRing!HEX:16|BuildId!DEC:4|VersionsName!String:0|ProductConfig!HEX:16',
  );
  const rows = answers.flatMap((answer) =>
    answer.regions.map((Region) => ({
      Region,
      BuildConfig: answer.buildConfig,
      CDNConfig: answer.cdnConfig,
      KeyRing: answer.keyRing,
      BuildId: String(answer.buildId),
      VersionsName: answer.version,
      ProductConfig: answer.productConfig,
    })),
  );
  return encodeBpsv({ columns, seqn: answers[0]?.seqn, rows });
}

/** Writes the `cdns` table. @param answers as for {@link makeVersions} */
export function makeCdns(...answers: readonly ServiceAnswer[]): Uint8Array {
  const columns = columnsOf('Name!STRING:0|Path!STRING:0|Hosts!STRING:0|Servers!STRING:0|ConfigPath!STRING:0');
  const rows = answers.flatMap(({ hosts, regions, cdnPath, configPath }) =>
    regions.map((Name) => ({
      Name,
      Path: cdnPath,
      Hosts: hosts.join(' '),
      Servers: hosts.map((host) => `http://${host}/?maxhosts=4`).join(' '),
      ConfigPath: configPath,
    })),
  );
  return encodeBpsv({ columns, seqn: answers[0]?.seqn, rows });
}

/**
 * Writes the list of all products: an older list with the rows of this product in place of those that it had.
 * @param before the list as it was; undefined for the first product
 */
export function makeSummary(
  { product, seqn }: Pick<ServiceAnswer, 'product' | 'seqn'>,
  before?: Uint8Array,
): Uint8Array {
  const older = before && decodeBpsv(before);
  const rows = summaryRows({ product, seqn });
  const own = older?.rows.filter((row) => row.Product === product) ?? [];
  const others = older?.rows.filter((row) => row.Product !== product) ?? [];
  const isSaid = own.length === rows.length && own.every(({ Seqn }) => Seqn === String(seqn));
  if (before !== undefined && isSaid) return before;
  return encodeSummary([...others, ...rows], Math.max(seqn, (older?.seqn ?? 0) + 1));
}

/** The rows of a product in the list of all: one for `versions`, one for `cdns`. */
export function summaryRows({ product, seqn }: Pick<ServiceAnswer, 'product' | 'seqn'>): BpsvRow[] {
  return ['', 'cdn'].map((Flags) => ({ Product: product, Seqn: String(seqn), Flags }));
}

/** Writes the list of all products. @param seqn its own sequence number */
export function encodeSummary(rows: readonly BpsvRow[], seqn: number): Uint8Array {
  return encodeBpsv({ columns: columnsOf('Product!STRING:0|Seqn!DEC:4|Flags!STRING:0'), seqn, rows });
}

function columnsOf(header: string): { name: string; type: string; size: number }[] {
  return header.split('|').map((text) => {
    const [name = '', type = '', size = ''] = text.split(/[!:]/);
    return { name, type, size: Number(size) };
  });
}

function line(key: string, ...values: (string | number)[]): ConfigEntry {
  return { key, values: values.map(String) };
}

function named(bytes: Uint8Array): NamedConfig {
  return { name: md5Hex(bytes), bytes };
}
