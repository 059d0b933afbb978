import * as fs from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '../core/bytes.ts';
import { isNotFound, PakratError } from '../core/errors.ts';
import { md5 } from '../core/hash.ts';
import { GrowingRecords } from '../core/tables/growing-records.ts';
import { KeyTable } from '../core/tables/key-table.ts';
import { readAt, reading } from '../files/read-at.ts';
import { decodeBlte } from '../formats/blte/decode.ts';
import { type BuildConfig, decodeBuildConfig } from '../formats/configs/build-config.ts';
import { decodeCdnConfig } from '../formats/configs/cdn-config.ts';
import { type ArchiveIndex, decodeArchiveIndex, type IndexEntry } from '../formats/indices/archive-index.ts';
import type { NamedIndex } from '../formats/indices/index-layout.ts';
import { decodeEncoding, type Encoding } from '../formats/manifests/encoding/decode.ts';
import { decodeTvfs } from '../formats/roots/tvfs/decode.ts';
import { cell, decodeBpsv } from '../formats/services/bpsv.ts';
import { type ObjectName, objectPath } from '../store/layout.ts';
import type { EncodedContent } from './encode/encode-content.ts';
import type { CdnFolder, EarlierObjects } from './objects/archive-writer.ts';

/** The live build of a product as the tables of a folder name it. */
export interface LiveBuild {
  version: string;
  buildId: number;
  seqn: number;
  buildConfig: string;
  cdnConfig: string;
  productConfig: string;
  /** Empty without one. */
  keyRing: string;
  /** Empty where there is no `cdns`. */
  cdnPath: string;
  hosts: readonly string[];
  regions: readonly string[];
}

/** Finds what the tables of a folder say of a product; undefined where it has none. @throws E_FORMAT for a table that is damaged, E_STORE */
export function findLiveBuild(out: string, product: string): LiveBuild | undefined {
  const [versions, cdns] = ['versions', 'cdns'].map((name) => readIfThere(join(out, product, name)));
  if (versions === undefined) return undefined;
  const table = decodeBpsv(versions);
  const row = table.rows[0] ?? {};
  const servers = (cdns && decodeBpsv(cdns).rows[0]) ?? {};
  const buildId = Number(cell(row, 'BuildId') ?? 0);
  return {
    version: cell(row, 'VersionsName') ?? '',
    buildId,
    seqn: table.seqn ?? buildId,
    buildConfig: cell(row, 'BuildConfig') ?? '',
    cdnConfig: cell(row, 'CDNConfig') ?? '',
    productConfig: cell(row, 'ProductConfig') ?? '',
    keyRing: cell(row, 'KeyRing') ?? '',
    cdnPath: cell(servers, 'Path') ?? '',
    hosts: cell(servers, 'Hosts')?.split(' ') ?? [],
    regions: table.rows.flatMap((one) => cell(one, 'Region') ?? []),
  };
}

/** The build that a further one shares objects with, and is patched from. It is read as any client reads it: nothing is believed that hashes to something else. */
export class EarlierBuild implements EarlierObjects {
  readonly config: BuildConfig;
  /** The builds that its CDN config names, newest first. */
  readonly builds: readonly string[];
  readonly indices: readonly NamedIndex[];
  readonly loose: readonly IndexEntry[];
  readonly #folder: CdnFolder;
  readonly #opened: readonly ArchiveIndex[];
  readonly #encoding: Encoding;
  readonly #plainEspecs: readonly string[];
  #names: ContentsByName | undefined;

  /** @throws E_FORMAT…, E_INTEGRITY for a config, index or manifest that is damaged; E_NOT_FOUND for one that is not there; E_STORE */
  constructor(folder: CdnFolder, live: LiveBuild) {
    this.#folder = folder;
    const { archives, fileIndex, builds } = decodeCdnConfig(this.#object('config', live.cdnConfig));
    this.builds = builds;
    this.indices = archives.map((name) => ({ name, bytes: this.#object('data', name, '.index') }));
    this.#opened = this.indices.map(({ bytes, name }) => decodeArchiveIndex(bytes, name));
    this.loose =
      fileIndex === undefined ? [] : [...decodeArchiveIndex(this.#object('data', fileIndex, '.index'), fileIndex)];
    for (const hash of [...archives, ...this.loose.map(({ ekey }) => toHex(ekey))]) {
      const path = this.#path({ kind: 'data', hash });
      if (!fs.existsSync(path)) throw this.#lacks(path);
    }
    this.config = decodeBuildConfig(this.#object('config', live.buildConfig));
    const { ckey, ekey = '' } = this.config.encoding;
    this.#encoding = decodeEncoding(decodeBlte(this.#encoded(ekey), { ekey, ckey }));
    this.#plainEspecs = this.#encoding.especs.filter((espec) => !espec.includes('e:'));
  }

  /** A content in the encoding that these specs ask for; undefined when the build has none such. */
  find(ckey: string, especs: readonly string[]): EncodedContent | undefined {
    const content = this.#encoding.findCkey(ckey);
    for (const ekey of content?.ekeys ?? []) {
      const found = this.#encoding.findEkey(ekey);
      const espec = this.#encoding.especs[found?.especIndex ?? -1];
      if (content === undefined || found === undefined || espec === undefined || !especs.includes(espec)) continue;
      return { ckey, ekey, size: content.size, encodedSize: found.size, espec };
    }
    return undefined;
  }

  /** The content of a name, spelt as it is; undefined when there is none, or the build keeps its names otherwise. */
  contentOf(name: string): EncodedContent | undefined {
    this.#names ??= this.#readNames();
    const ckey = this.#names.find(name);
    return ckey === undefined ? undefined : this.findPlain(ckey);
  }

  /** A content in any encoding that needs no key. */
  findPlain(ckey: string): EncodedContent | undefined {
    return this.find(ckey, this.#plainEspecs);
  }

  #readNames(): ContentsByName {
    const names = new ContentsByName();
    const { vfsRoot } = this.config;
    if (vfsRoot?.ekey === undefined) return names;
    const { files } = decodeTvfs(decodeBlte(this.#encoded(vfsRoot.ekey), { ekey: vfsRoot.ekey, ckey: vfsRoot.ckey }));
    for (const { path, spans } of files) {
      const [only] = spans;
      if (only?.ckey !== undefined && spans.length === 1) names.set(path, only.ckey);
    }
    return names;
  }

  /** The decoded bytes of a content that is not encrypted. @throws as the constructor */
  read({ ekey, ckey }: EncodedContent): Uint8Array {
    return decodeBlte(this.#encoded(ekey), { ekey, ckey });
  }

  #encoded(ekey: string): Uint8Array {
    const key = fromHex(ekey);
    for (const [i, index] of this.#opened.entries()) {
      const entry = index.find(key);
      const name = this.indices[i]?.name;
      if (entry === undefined || name === undefined) continue;
      const path = this.#path({ kind: 'data', hash: name });
      return reading(path, () => readRange(path, entry.offset, entry.size));
    }
    return this.#object('data', ekey);
  }

  #object(kind: ObjectName['kind'], hash: string, suffix: '' | '.index' = ''): Uint8Array {
    const path = this.#path({ kind, hash, suffix });
    try {
      return reading(path, () => new Uint8Array(fs.readFileSync(path)));
    } catch (error) {
      throw isNotFound(error) ? this.#lacks(path) : error;
    }
  }

  #lacks(path: string): PakratError {
    return new PakratError('E_NOT_FOUND', `the live build in ${this.#folder.out} lacks ${path}`, {
      hint: 'Put it back, or publish into an empty folder.',
      data: { path },
    });
  }

  #path(name: Omit<ObjectName, 'cdnPath'>): string {
    return join(this.#folder.out, objectPath({ cdnPath: this.#folder.cdnPath, ...name }));
  }
}

/** The ckeys of many names in little memory: a name is its MD5. */
class ContentsByName {
  readonly #names = new KeyTable();
  readonly #ckeys = new GrowingRecords(16);

  set(name: string, ckey: Uint8Array): void {
    const number = this.#names.add(md5(utf8.encode(name)));
    if (number === this.#ckeys.count) this.#ckeys.add();
    this.#ckeys.at(number).set(ckey);
  }

  find(name: string): string | undefined {
    const number = this.#names.numberOf(md5(utf8.encode(name)));
    return number < 0 ? undefined : toHex(this.#ckeys.at(number));
  }
}

const utf8 = new TextEncoder();

function readRange(path: string, offset: number, size: number): Uint8Array {
  const fd = fs.openSync(path, 'r');
  try {
    return readAt(fd, offset, size, path);
  } finally {
    fs.closeSync(fd);
  }
}

function readIfThere(path: string): Uint8Array | undefined {
  return fs.existsSync(path) ? reading(path, () => new Uint8Array(fs.readFileSync(path))) : undefined;
}
