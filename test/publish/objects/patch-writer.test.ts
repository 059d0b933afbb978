import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { toHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodePatchConfig } from '../../../src/formats/configs/patch-config.ts';
import { decodeArchiveIndex } from '../../../src/formats/indices/archive-index.ts';
import { decodePatchManifest, encodePatchManifest } from '../../../src/formats/patches/patch-manifest.ts';
import type { EncodedContent } from '../../../src/publish/encode/encode-content.ts';
import { type BuildPatches, PatchWriter } from '../../../src/publish/objects/patch-writer.ts';
import { type ObjectName, objectPath } from '../../../src/store/layout.ts';
import { allSteps } from '../../support/all-steps.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const cdnPath = 'tpr/game';
const contentOf = (name: string, size = 1000): EncodedContent => ({
  ckey: md5Hex(Buffer.from(`ckey ${name}`)),
  ekey: md5Hex(Buffer.from(`ekey ${name}`)),
  size,
  encodedSize: 600,
  espec: 'z',
});
const manifests = {
  root: contentOf('root'),
  install: contentOf('install'),
  download: contentOf('download'),
  size: contentOf('size'),
  encoding: contentOf('encoding'),
};

let folder: string;
let writer: PatchWriter;
beforeEach(() => {
  folder = scratch(`cdn-${Math.random()}`);
  mkdirSync(folder);
  writer = new PatchWriter({ out: folder, cdnPath }, 2 ** 28 - 1);
});

const read = (name: Omit<ObjectName, 'cdnPath'>) => readFileSync(join(folder, objectPath({ cdnPath, ...name })));

function finish(): BuildPatches | undefined {
  const made = allSteps(writer.finish(manifests));
  writer.close();
  // Nothing is left of what waited on disk.
  expect(readdirSync(folder).filter((name) => name !== 'tpr')).toEqual([]);
  return made;
}

test('every patch is in the manifest, in as many blocks as it takes, and once in the archives', () => {
  const count = 18_000;
  for (let i = 0; i < count; i++) {
    // Of 18,000 contents, whose rows do not stay in memory, 15,000 have a patch that no other has.
    writer.put(contentOf(`old ${i}`, i), contentOf(`new ${i}`, 10_000 + i), Buffer.from(`patch ${i % 15_000}`));
  }
  const made = finish()!;
  const bytes = read({ kind: 'patch', hash: made.manifest.name });
  expect(bytes.length).toBe(made.manifest.size);
  const manifest = decodePatchManifest(bytes);
  expect(manifest.key).toBe(made.manifest.name);
  expect(manifest.encoding?.espec).toBe('z');
  const wanted = Array.from({ length: count }, (_, i) => [
    contentOf(`new ${i}`).ckey,
    10_000 + i,
    [contentOf(`old ${i}`).ekey, i, md5Hex(Buffer.from(`patch ${i % 15_000}`)), `patch ${i % 15_000}`.length, 0],
  ]);
  const found = Array.from(manifest.files, ({ targetCkey, targetSize, patches: [patch] }) => [
    toHex(targetCkey),
    targetSize,
    [toHex(patch!.sourceEkey), patch!.sourceSize, toHex(patch!.patchEkey), patch!.patchSize, patch!.order],
  ]);
  expect(found).toEqual(wanted.sort(([a], [b]) => (a! < b! ? -1 : 1)));
  // What the one encoder makes of all files in memory is what was written block by block.
  expect(md5Hex(encodePatchManifest(manifest))).toBe(md5Hex(bytes));
  const [archive] = made.objects.archives;
  const index = decodeArchiveIndex(read({ kind: 'patch', hash: archive!.name, suffix: '.index' }), archive!.name);
  expect(index.count).toBe(15_000);
  expect(writer.added.objects).toBe(count);
});

test('there is no patch that costs as much as its target, none to the same content, and one for a target', () => {
  writer.put(contentOf('a'), contentOf('b'), Buffer.alloc(600));
  writer.put(contentOf('a'), contentOf('a'), Buffer.alloc(5));
  expect(writer.added.objects).toBe(0);
  writer.put(contentOf('a'), contentOf('b'), Buffer.alloc(599, 1));
  writer.put(contentOf('c'), contentOf('b'), Buffer.alloc(5, 2));
  const made = finish()!;
  const manifest = decodePatchManifest(read({ kind: 'patch', hash: made.manifest.name }));
  expect(Array.from(manifest.files, ({ patches: [patch] }) => toHex(patch!.sourceEkey))).toEqual([contentOf('a').ekey]);
  const config = decodePatchConfig(read({ kind: 'config', hash: made.config }));
  expect([config.patch, config.patchSize]).toEqual([made.manifest.name, made.manifest.size]);
});

test('without a patch nothing is written', () => {
  expect(finish()).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});
