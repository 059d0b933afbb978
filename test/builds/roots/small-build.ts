import { ListfileIndex } from '../../../src/builds/listfile/listfile-index.ts';
import { EncodingFile } from '../../../src/builds/manifests/encoding-file.ts';
import { openRoot, type RootPlace } from '../../../src/builds/roots/index.ts';
import type { Root } from '../../../src/builds/roots/root.ts';
import { toHex } from '../../../src/core/bytes.ts';
import { PakratError } from '../../../src/core/errors.ts';
import { md5, md5Hex } from '../../../src/core/hash.ts';
import { decodeBuildConfig } from '../../../src/formats/configs/build-config.ts';
import { encodeEncoding } from '../../../src/formats/manifests/encoding/encode.ts';
import type { Install } from '../../../src/formats/manifests/install.ts';
import { writeDerived } from '../../../src/store/derived/derived-writer.ts';
import { storeLayout } from '../../../src/store/layout.ts';

/** What a build of no CDN has: its objects by ckey. */
export interface SmallBuild {
  root?: Uint8Array;
  vfsRoot?: Uint8Array;
  install?: Install;
  /** Objects that the root leads to. */
  objects?: Uint8Array[];
  /** Contents of the encoding file. */
  contents?: Uint8Array[];
  /** More lines of the build config. */
  config?: string[];
}

/** Opens the root of a build that lies in memory; the store is in `folder`. */
export async function openSmallRoot(folder: (...parts: string[]) => string, build: SmallBuild): Promise<Root> {
  return openRoot(smallPlace(folder, build));
}

/** The place that {@link openSmallRoot} opens a root with. */
export function smallPlace(folder: (...parts: string[]) => string, build: SmallBuild): RootPlace {
  const { root, vfsRoot, install, objects = [], contents = [], config = [] } = build;
  const byKey = new Map(
    [root, vfsRoot, ...objects].flatMap((bytes) => (bytes === undefined ? [] : [[md5Hex(bytes), bytes]])),
  );
  const get = (ckey: string): Uint8Array => {
    const bytes = byKey.get(ckey);
    if (bytes === undefined) throw new PakratError('E_NOT_FOUND', `no ${ckey}`);
    return bytes;
  };
  const lines = [
    `encoding = ${'e'.repeat(32)}`,
    ...(root === undefined ? [] : [`root = ${md5Hex(root)}`]),
    ...(vfsRoot === undefined ? [] : [`vfs-root = ${md5Hex(vfsRoot)} ${md5Hex(vfsRoot)}`]),
    ...config,
  ];
  const file = root === undefined ? undefined : folder(md5Hex(root));
  if (file !== undefined) writeDerived(file, root!, folder('tmp'));
  const entries = contents.map((bytes) => ({
    ckey: md5Hex(bytes),
    size: bytes.length,
    ekeys: [toHex(md5(md5(bytes)))],
  }));
  const encodingFile = folder('encoding');
  writeDerived(
    encodingFile,
    encodeEncoding({
      ckeys: entries,
      ekeys: entries.map(({ ekeys, size }) => ({ ekey: ekeys[0]!, especIndex: 0, size: size + 9 })),
      especs: ['n'],
    }),
    folder('tmp'),
  );
  return {
    folders: storeLayout(folder('store')),
    config: decodeBuildConfig(new TextEncoder().encode(`# Build Configuration\n\n${lines.join('\n')}\n`)),
    file,
    encoding: new EncodingFile(encodingFile),
    listfile: () => ListfileIndex.open(storeLayout(folder('store'))),
    load: async ({ ckey }) => get(ckey),
    manifest: async ({ ckey }) => {
      writeDerived(folder(ckey), get(ckey), folder('tmp'));
      return folder(ckey);
    },
    loadPart: async ({ ckey }) => get(ckey ?? ''),
    install: async () => install,
  };
}
