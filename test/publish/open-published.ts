import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '../../src/core/bytes.ts';
import { decodeBlte } from '../../src/formats/blte/decode.ts';
import { decodeBlteHeader } from '../../src/formats/blte/header.ts';
import { decodeBuildConfig, type ManifestKeys } from '../../src/formats/configs/build-config.ts';
import { decodeCdnConfig } from '../../src/formats/configs/cdn-config.ts';
import { decodeArchiveIndex } from '../../src/formats/indices/archive-index.ts';
import { decodeDownload } from '../../src/formats/manifests/download.ts';
import { decodeEncoding } from '../../src/formats/manifests/encoding/decode.ts';
import { decodeInstall } from '../../src/formats/manifests/install.ts';
import { decodeSize } from '../../src/formats/manifests/size.ts';
import { decodeTvfs } from '../../src/formats/roots/tvfs/decode.ts';
import { decodeBpsv } from '../../src/formats/services/bpsv.ts';

/** Reads the live build of a folder with decoders alone, which check every hash. Its names are a TVFS. @param tables folder of `versions` */
export function openPublished(out: string, product: string, tables = product) {
  const versions = decodeBpsv(readFileSync(join(out, tables, 'versions')));
  const root = decodeBpsv(readFileSync(join(out, product, 'cdns'))).rows[0]?.Path ?? '';
  const path = (kind: string, hash: string): string => join(out, root, kind, hash.slice(0, 2), hash.slice(2, 4), hash);
  const row = versions.rows[0] ?? {};
  const build = decodeBuildConfig(readFileSync(path('config', row.BuildConfig ?? '')));
  const cdn = decodeCdnConfig(readFileSync(path('config', row.CDNConfig ?? '')));
  const indices = cdn.archives.map((name) => decodeArchiveIndex(readFileSync(`${path('data', name)}.index`), name));
  const encoded = (ekey: string): Uint8Array => {
    for (const [i, index] of indices.entries()) {
      const entry = index.find(fromHex(ekey));
      if (entry === undefined) continue;
      return readFileSync(path('data', cdn.archives[i] ?? '')).subarray(entry.offset, entry.offset + entry.size);
    }
    return readFileSync(path('data', ekey));
  };
  const manifest = (keys: ManifestKeys | undefined): Uint8Array =>
    decodeBlte(encoded(keys?.ekey ?? ''), { ekey: keys?.ekey ?? '', ckey: keys?.ckey ?? '' });
  const encoding = decodeEncoding(manifest(build.encoding));
  const tvfs = decodeTvfs(manifest(build.vfsRoot));
  return {
    versions,
    build,
    cdn,
    path,
    encoding,
    install: decodeInstall(manifest(build.install)),
    download: decodeDownload(manifest(build.download)),
    size: decodeSize(manifest(build.size)),
    tvfs,
    /** The ckeys of the files, each of which was decoded. */
    files: (): Record<string, string> => {
      const files: Record<string, string> = {};
      for (const { path: name, spans } of tvfs.files) {
        const ckey = toHex(spans[0]?.ckey ?? new Uint8Array());
        const ekey = encoding.findCkey(ckey)?.ekeys[0] ?? '';
        decodeBlte(encoded(ekey), { ekey, ckey });
        files[name] = ckey;
      }
      return files;
    },
    /** The modes of the chunks of a content. */
    modesOf: (ckey: string): string => {
      const bytes = encoded(encoding.findCkey(ckey)?.ekeys[0] ?? '');
      const header = decodeBlteHeader(bytes, bytes.length);
      return Array.from({ length: header.count }, (_, i) =>
        String.fromCharCode(bytes[header.chunk(i).offset] ?? 0),
      ).join('');
    },
  };
}
