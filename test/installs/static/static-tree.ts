import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from '../../../src/builds/build.ts';
import { deflate } from '../../../src/codecs/compression/inflate.ts';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';
import { decodeConfig, encodeConfig } from '../../../src/formats/configs/config-file.ts';
import { decodeKeyLayouts, keyOfPlace } from '../../../src/formats/local/key-layout.ts';
import { decodeEncoding } from '../../../src/formats/manifests/encoding/decode.ts';
import { encodeEncoding } from '../../../src/formats/manifests/encoding/encode.ts';
import { decodeTvfs } from '../../../src/formats/roots/tvfs/decode.ts';
import { encodeTvfs } from '../../../src/formats/roots/tvfs/encode.ts';

/*
 * A static container, made of a build that lies somewhere else: real ones are not at hand. Entries are copied as they are; only their keys
 * become places. `data.CCC.AAA` as Overwatch has them, with an encoding file, or `CC-AAAAAAAA.data` as Diablo II: Resurrected has them, without.
 */

const lines = ['key-layout-index-bits = 0', 'key-layout-0 = 8 8 40 1'];
const layouts = decodeKeyLayouts(decodeConfig(new TextEncoder().encode(lines.join('\n'))))!;
const entriesPerFile = 60;

type Names = (chunk: number, archive: number) => string;
export const overwatchNames: Names = (chunk, archive) =>
  `data.${String(chunk).padStart(3, '0')}.${String(archive).padStart(3, '0')}`;
export const diabloNames: Names = (chunk, archive) =>
  `${String(chunk).padStart(2, '0')}-${archive.toString(16).padStart(8, '0')}.data`;

/** Data files that grow. */
class Container {
  readonly #folder: string;
  readonly #names: Names;
  readonly #files = new Map<number, Buffer[]>();
  #count = 0;

  constructor(folder: string, names: Names) {
    this.#folder = folder;
    this.#names = names;
    mkdirSync(folder, { recursive: true });
  }

  /** Puts bytes away; their key begins with a hash of them. */
  add(hash: string, bytes: Uint8Array): string {
    const file = Math.floor(this.#count++ / entriesPerFile);
    const pieces = this.#files.get(file) ?? [];
    const offset = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.#files.set(file, [...pieces, Buffer.from(bytes)]);
    return keyOfPlace(hash, { layout: 0, chunk: file % 2, archive: file, offset }, layouts);
  }

  write(config: Record<string, string>): void {
    for (const [file, pieces] of this.#files)
      writeFileSync(join(this.#folder, this.#names(file % 2, file)), Buffer.concat(pieces));
    const entries = Object.entries(config).map(([key, value]) => ({ key, values: value.split(' ') }));
    const text = encodeConfig({
      entries: [...entries, ...decodeConfig(new TextEncoder().encode(lines.join('\n'))).entries],
      title: 'Static Build Configuration',
    });
    writeFileSync(join(this.#folder, '.build.config'), text);
  }
}

/** The encoded bytes of an entry, and its whole key. */
function encodedBytes(build: Build, ekey: string): { hash: string; bytes: Uint8Array } {
  const place = build.locate(ekey)!;
  const { file, offset } = build.objects.open(place);
  return { hash: place.ekey, bytes: readFileSync(file).subarray(offset, offset + place.size) };
}

/** Copies a build into a container with an encoding file. @returns the new key of each old one */
export async function makeStaticWithEncoding(build: Build, folder: string): Promise<Map<string, string>> {
  const container = new Container(folder, overwatchNames);
  const encoding = decodeEncoding(new Uint8Array(readFileSync(await build.manifest(build.config.encoding))));
  const keys = new Map<string, string>();
  for (const { ekey } of encoding.ekeys) {
    const { hash, bytes } = encodedBytes(build, ekey);
    keys.set(ekey, container.add(hash, bytes));
  }
  const moved = encodeEncoding({
    ckeys: [...encoding.ckeys].map((entry) => ({ ...entry, ekeys: entry.ekeys.map((ekey) => keys.get(ekey)!) })),
    ekeys: [...encoding.ekeys].map((entry) => ({ ...entry, ekey: keys.get(entry.ekey)! })),
    especs: encoding.especs,
  });
  const blte = encodeBlte(moved, 'b:{1K=n,*=z}');
  const ckey = md5Hex(moved);
  const { root, install } = build.config;
  container.write({
    root: root!.ckey,
    install: install!.ckey,
    encoding: `${ckey} ${container.add(blte.ekey, blte.bytes)}`,
    'encoding-size': `${moved.length} ${blte.bytes.length}`,
    'build-uid': 'pro',
    'client-version': '3.13.4',
  });
  return keys;
}

/** Copies the files of a TVFS into a container that has no encoding file, with bare zlib streams for manifests. */
export async function makeStaticWithoutEncoding(build: Build, folder: string): Promise<void> {
  const container = new Container(folder, diabloNames);
  const moved = new Map<string, Uint8Array>();
  const tvfs = decodeTvfs(new Uint8Array(readFileSync(await build.manifest(build.config.vfsRoot!))));
  const files = [...tvfs.files].map((file) => ({
    ...file,
    spans: file.spans.map(({ patches, ...span }) => {
      const old = toHex(span.ekey);
      const { hash, bytes } = encodedBytes(build, old);
      if (!moved.has(old)) moved.set(old, fromHex(container.add(hash, bytes)));
      return { ...span, ekey: moved.get(old)! };
    }),
  }));
  const manifest = encodeTvfs({ entries: files, header: { ekeySize: 16, patchKeySize: 16 } });
  const bare = deflate(manifest, { level: 9 });
  const ckey = md5Hex(manifest);
  const keys = `${ckey} ${container.add(md5Hex(bare), bare)}`;
  const size = `${manifest.length} ${bare.length}`;
  container.write({
    root: 'bf9064519cc56ba5fe197ce27e4729a1',
    'vfs-root': keys,
    'vfs-root-espec': 'z',
    'vfs-root-size': size,
    'vfs-1': keys,
    'vfs-1-espec': 'z',
    'vfs-1-size': size,
  });
}
