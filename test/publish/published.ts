import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fromHex, toHex } from '../../src/core/bytes.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { nameHash } from '../../src/core/jenkins.ts';
import { decodeBlte } from '../../src/formats/blte/decode.ts';
import type { KeyRing } from '../../src/formats/blte/keys.ts';
import { decodeBuildConfig, type ManifestKeys } from '../../src/formats/configs/build-config.ts';
import { decodeCdnConfig } from '../../src/formats/configs/cdn-config.ts';
import { type ArchiveIndex, decodeArchiveIndex } from '../../src/formats/indices/archive-index.ts';
import { decodeDownload } from '../../src/formats/manifests/download.ts';
import { decodeEncoding } from '../../src/formats/manifests/encoding/decode.ts';
import { decodeInstall } from '../../src/formats/manifests/install.ts';
import { decodeSize } from '../../src/formats/manifests/size.ts';
import { decodeWowRoot, fillFileDataIds, rowBlock, rowCkey, rowNameHash } from '../../src/formats/roots/wow/decode.ts';
import { decodeBpsv } from '../../src/formats/services/bpsv.ts';

/** Every file below a folder by its path there, with its MD5. */
export function treeOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const rows = files.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [relative(folder, path), md5Hex(readFileSync(path))] as const;
  });
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Reads a published tree as any client does, from `versions` on, with decoders that were proven on real files. Everything is checked on the way. */
export function readPublished(out: string, product: string) {
  const text = (name: string) => decodeBpsv(readFileSync(join(out, product, name)));
  const versions = text('versions');
  const cdns = text('cdns');
  const path = cdns.rows[0]!.Path!;
  const file = (kind: string, hash: string) => join(out, path, kind, hash.slice(0, 2), hash.slice(2, 4), hash);
  const config = (hash: string): Uint8Array => {
    const bytes = readFileSync(file('config', hash));
    if (md5Hex(bytes) !== hash) throw new Error(`config ${hash} is not named by its MD5`);
    return bytes;
  };
  const build = decodeBuildConfig(config(versions.rows[0]!.BuildConfig!));
  const cdn = decodeCdnConfig(config(versions.rows[0]!.CDNConfig!));
  const index = (hash: string): ArchiveIndex => decodeArchiveIndex(readFileSync(`${file('data', hash)}.index`), hash);
  const indices = cdn.archives.map(index);
  const fileIndex = index(cdn.fileIndex!);

  /** The encoded bytes of an object, out of its archive or loose. */
  const encoded = (ekey: string): { bytes: Uint8Array; archive: string | undefined } => {
    for (const [i, archiveIndex] of indices.entries()) {
      const entry = archiveIndex.find(fromHex(ekey));
      if (entry === undefined) continue;
      const archive = cdn.archives[i]!;
      const bytes = readFileSync(file('data', archive)).subarray(entry.offset, entry.offset + entry.size);
      return { bytes, archive };
    }
    const entry = fileIndex.find(fromHex(ekey));
    const bytes = readFileSync(file('data', ekey));
    if (entry?.size !== bytes.length) throw new Error(`loose object ${ekey} is not in the file index`);
    return { bytes, archive: undefined };
  };
  const decoded = (ekey: string, ckey: string, keys?: KeyRing): Uint8Array =>
    decodeBlte(encoded(ekey).bytes, { ekey, ckey, keys });
  const manifest = ({ ckey, ekey, size, encodedSize }: ManifestKeys): Uint8Array => {
    const bytes = decoded(ekey!, ckey);
    if (bytes.length !== size || encoded(ekey!).bytes.length !== encodedSize) throw new Error(`sizes of ${ckey}`);
    return bytes;
  };
  const encodingBytes = manifest(build.encoding);
  const encoding = decodeEncoding(encodingBytes);
  const byCkey = (ckey: string) => encoding.findCkey(ckey)!;
  const root = decodeWowRoot(decoded(byCkey(build.root!.ckey).ekeys[0]!, build.root!.ckey));

  const ids = fillFileDataIds(root);
  /** The rows of the root for a name. */
  const rowsOf = (name: string) => {
    const hash = toHex(nameHash(name));
    const rows: { fileDataId: number; ckey: string; localeFlags: number; contentFlags: number }[] = [];
    for (let row = 0; row < root.rowCount; row++) {
      if (toHex(rowNameHash(root, row)!) !== hash) continue;
      const { localeFlags, contentFlags } = rowBlock(root, row);
      rows.push({ fileDataId: ids[row]!, ckey: toHex(rowCkey(root, row)), localeFlags, contentFlags });
    }
    return rows;
  };
  return {
    versions,
    cdns,
    build,
    cdn,
    indices,
    fileIndex,
    encoding,
    encodingBytes,
    root,
    file,
    config,
    encoded,
    decoded,
    byCkey,
    rowsOf,
    install: decodeInstall(manifest(build.install!)),
    download: decodeDownload(manifest(build.download!)),
    size: decodeSize(manifest(build.size!)),
  };
}
