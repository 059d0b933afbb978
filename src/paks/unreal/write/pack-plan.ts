import { aesKeySize } from '../../../codecs/ciphers/aes.ts';
import { PakratError } from '../../../core/errors.ts';
import type { RecordFormat } from '../entries/entry-record.ts';
import { type FooterLayout, footerLayout } from '../footer.ts';

/** The options of an Unreal PAK that is written. */
export interface UnrealPackOptions {
  /** 1 to 12, or `8A` or `8B`; 8 is 8B. Default 11. */
  version?: number | string | undefined;
  /** Default none. Entries that do not become smaller are stored as they are. */
  compress?: 'none' | 'zlib' | undefined;
  /**
   * Compress as the original zlib does, byte for byte and on every machine, at a quarter of the speed. Default false: the
   * bytes then depend on the zlib of Node and on the processor.
   */
  exact?: boolean | undefined;
  /** Decoded size of a compressed block. Default 64 KiB. */
  blockSize?: number | undefined;
  /** The folder of the game below which its names are. Default `../../../`. */
  mountPoint?: string | undefined;
  /** 32 bytes; encrypts the data of every entry unless `encryptData` says otherwise. */
  key?: Uint8Array | undefined;
  encryptData?: boolean | undefined;
  /** Needs a key. Default false. */
  encryptIndex?: boolean | undefined;
  /** GUID of the key, 32 hex digits; version 7 and above. Default zeros: the game's main key. */
  keyGuid?: string | undefined;
  /** Seed of the path hashes, version 10 and above. Default 0. */
  pathHashSeed?: bigint | undefined;
}

/** Options that were checked, with what follows from them. */
export interface PackPlan {
  label: string;
  layout: FooterLayout;
  format: RecordFormat;
  compress: boolean;
  exact: boolean;
  blockSize: number;
  mountPoint: string;
  dataKey: Uint8Array | undefined;
  indexKey: Uint8Array | undefined;
  keyGuid: string;
  pathHashSeed: bigint;
  /** The method of zlib in records. */
  zlibMethod: number;
  /** Those of the footer; absent: as the entries need. */
  methodNames?: readonly string[] | undefined;
  /** Directories in the order of an older PAK, from version 10 on. */
  directories?: readonly string[] | undefined;
  /** The parts of the index that an older PAK has, from version 10 on; absent: both. */
  parts?: 'hashes' | 'directory' | undefined;
}

/** The newest version that is written. */
export const newestWritten = 12;
const defaultVersion = 11;
const minBlockSize = 1 << 10;
const maxBlockSize = 16 << 20;
const compressionVersion = 3;
const indexEncryptionVersion = 4;

/** Checks how a PAK is to be written. Throws E_USAGE for what does not go together. */
export function planPack(options: UnrealPackOptions): PackPlan {
  const { label, layout } = writtenVersion(String(options.version ?? defaultVersion).toUpperCase());
  const version = Number.parseInt(label, 10);
  const { compress = 'none', blockSize = 0x10000, key, encryptIndex = false } = options;
  const encryptData = options.encryptData ?? key !== undefined;
  if (compress === 'zlib')
    demand(version >= compressionVersion, `version ${version} cannot be compressed`, 'Use version 3 or above.');
  if (key !== undefined)
    demand(version >= compressionVersion, `version ${version} cannot be encrypted`, 'Use version 3 or above.');
  const hasSealedIndex = version >= indexEncryptionVersion || !encryptIndex;
  demand(hasSealedIndex, `the index of version ${version} cannot be encrypted`, 'Use version 4 or above.');
  const needsKey = encryptIndex || encryptData;
  demand(key !== undefined || !needsKey, 'there is no key to encrypt with', 'Give one with --key.');
  const isKey = key === undefined || key.length === aesKeySize;
  demand(isKey, `a key of ${key?.length} bytes`, 'An AES-256 key has 32 bytes.');
  const isSize = Number.isInteger(blockSize) && blockSize >= minBlockSize && blockSize <= maxBlockSize;
  demand(isSize, `a block size of ${blockSize}`, `Use ${minBlockSize} to ${maxBlockSize} bytes.`);
  return {
    label,
    blockSize,
    compress: compress === 'zlib',
    exact: options.exact === true,
    layout,
    format: { version, hasByteMethod: label === '8A' },
    mountPoint: withSlash(options.mountPoint ?? '../../../'),
    dataKey: encryptData ? key : undefined,
    indexKey: encryptIndex ? key : undefined,
    keyGuid: keyGuid(options.keyGuid),
    pathHashSeed: options.pathHashSeed ?? 0n,
    zlibMethod: 1,
  };
}

function writtenVersion(asked: string): { label: string; layout: FooterLayout } {
  const label = asked === '8' ? '8B' : asked;
  const isKnown = /^([1-9][0-9]?|8[AB])$/.test(label) && Number.parseInt(label, 10) <= newestWritten;
  const layout = isKnown ? footerLayout(label) : undefined;
  if (layout === undefined) throw refusal(`version ${asked} cannot be written`, `Use 1 to ${newestWritten}, or 8A.`);
  return { label, layout };
}

/** Names are put behind the mount point without anything between. */
function withSlash(mountPoint: string): string {
  const plain = mountPoint.replaceAll('\\', '/');
  return plain === '' || plain.endsWith('/') ? plain : `${plain}/`;
}

function keyGuid(guid = '0'.repeat(32)): string {
  const hex = guid.replaceAll(/[-{}]/g, '').toLowerCase();
  demand(/^[0-9a-f]{32}$/.test(hex), `${JSON.stringify(guid)} is no GUID`, 'Give 32 hex digits.');
  return hex;
}

function demand(isRight: boolean, problem: string, hint: string): void {
  if (!isRight) throw refusal(problem, hint);
}

function refusal(problem: string, hint: string): PakratError {
  return new PakratError('E_USAGE', `Unreal PAK: ${problem}`, { hint });
}
