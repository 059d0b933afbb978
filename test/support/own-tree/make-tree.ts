import { join } from 'node:path';
import { concatBytes } from '../../../src/core/bytes.ts';
import type { TactKey } from '../../../src/formats/configs/key-list.ts';
import { makeZbsdiff } from '../../../src/formats/patches/zbsdiff.ts';
import {
  makeBuildConfig,
  makeCdnConfig,
  makeKeyRing,
  makeProductConfig,
  type NamedConfig,
} from '../../../src/publish/manifests/configs.ts';
import { type CdnFolder, putObject } from '../../../src/publish/objects/archive-writer.ts';
import { type BuildPatches, PatchWriter } from '../../../src/publish/objects/patch-writer.ts';
import { allSteps } from '../all-steps.ts';
import { makeBuild, rowContent, type TreeBuild, type TreePlan } from './build.ts';
import { writeClient } from './client.ts';
import { stream } from './content.ts';
import { md5, TreeObjects } from './objects.ts';
import { parseTreeOptions, type TreeOptions } from './options.ts';
import { planFiles, planInstall } from './plan.ts';
import { writeServices } from './services.ts';
import { type TreeConfigs, writeTruth } from './truth-tables.ts';

/*
 * A whole CDN that the project makes itself, in the layout of the independent generator and with the same tables of the truth: two builds
 * of a product (a as `wow_old`, b as `wow`), made with the encoders and with what `publish` is made of. The truth follows from the plan,
 * not from what was written.
 */

const buildIds = { a: 60000, b: 60100 };
const versionOf = (which: 'a' | 'b'): string => `11.2.0.${buildIds[which]}`;

/** Makes a tree in a folder. @param host `host:port`, as its `cdns` names it */
export function makeOwnTree(root: string, host: string, args: readonly string[]): void {
  const options = parseTreeOptions(args);
  const folder = { out: join(root, 'www'), cdnPath: 'tpr/wow' };
  const plan = { options, keys: planKeys(options), files: planFiles(options), install: planInstall(options) };
  const objects = new TreeObjects(folder, options);
  const a = makeBuild('a', plan, objects);
  addForeign(objects, options);
  const dataOfA = allSteps(objects.data.archives.finish());
  const b = makeBuild('b', plan, objects);
  const dataOfB = allSteps(objects.data.archives.finish());
  const patches = makePatches(folder, { a, b }, plan);

  const put = ({ name, bytes }: NamedConfig): string => {
    putObject(folder.out, { cdnPath: folder.cdnPath, kind: 'config', hash: name }, bytes);
    return name;
  };
  const build = { a: put(buildConfigOf('a', a)), b: put(buildConfigOf('b', b, patches)) };
  const configs: TreeConfigs = {
    build,
    cdn: {
      a: put(makeCdnConfig(dataOfA, { builds: [build.a] })),
      b: put(makeCdnConfig(dataOfB, { patches: patches?.objects, builds: [build.b, build.a] })),
    },
    product_config: putProductConfig(folder.out),
    keyring: put(keyRingOf(plan.keys.slice(0, 1))),
  };
  for (const which of ['a', 'b'] as const) writeProduct(root, host, { which, configs });
  writeTruth(root, { plan, builds: { a, b }, configs });
  if (options.local) {
    const of = { buildConfig: build.b, cdnConfig: configs.cdn.b, keyRing: configs.keyring, version: versionOf('b') };
    writeClient(root, { build: b, ...of, host, segment: options.segment });
  }
  objects.data.close();
}

function planKeys({ keys, seed }: TreeOptions): TactKey[] {
  const hex = (text: string, size: number): string => stream(`${seed}|${text}`, size).toString('hex');
  return Array.from({ length: keys }, (_, i) => ({ name: hex(`keyname|${i}`, 8), key: hex(`key|${i}`, 16) }));
}

/** Small entries of builds long gone. */
function addForeign({ data }: TreeObjects, { foreign, seed }: TreeOptions): void {
  for (let i = 0; i < foreign; i++) {
    const bytes = concatBytes([Buffer.from('BLTE\0\0\0\0N', 'latin1'), stream(`${seed}|old|${i}`, 12)]);
    data.archives.add(md5(bytes), bytes);
  }
}

/** Patches from build a to build b, for what is not encrypted. */
function makePatches(
  folder: CdnFolder,
  { a, b }: Record<'a' | 'b', TreeBuild>,
  { options }: TreePlan,
): BuildPatches | undefined {
  const writer = new PatchWriter(folder, Math.max(2 ** 14, options.totalBytes / 256));
  const before = new Map(a.rows.map((row) => [`${row.file.id} ${row.locale}`, row]));
  const changed = b.rows.filter(({ file, revision }) => revision === 2 && file.key === undefined);
  for (const row of changed.slice(0, options.patches)) {
    const source = before.get(`${row.file.id} ${row.locale}`);
    if (source === undefined) continue;
    const patch = makeZbsdiff(rowContent(source, options), rowContent(row, options));
    writer.put(source.encodings[0]!, row.encodings[0]!, patch);
  }
  return allSteps(writer.finish(b.manifests));
}

function buildConfigOf(which: 'a' | 'b', { manifests, tvfs }: TreeBuild, patches?: BuildPatches): NamedConfig {
  const name = { product: 'wow', version: versionOf(which), buildId: buildIds[which] };
  const { bytes } = makeBuildConfig(name, manifests, patches);
  const lines = tvfs.map(({ ckey, ekey, size, encodedSize }, i) => {
    const key = i === 0 ? 'vfs-root' : `vfs-${i}`;
    return `${key} = ${ckey} ${ekey}\n${key}-size = ${size} ${encodedSize}\n`;
  });
  const text = new TextDecoder()
    .decode(bytes)
    .replace(/^build-name = .*$/m, `build-name = WOW-${buildIds[which]}patch11.2.0_Retail`);
  return named(text + lines.join(''));
}

/** A ring has a title, so that one without keys is no empty file. */
function keyRingOf(keys: readonly TactKey[]): NamedConfig {
  return named(`# Keyring Configuration\n${new TextDecoder().decode(makeKeyRing(keys).bytes)}`);
}

function named(text: string): NamedConfig {
  const bytes = new TextEncoder().encode(text);
  return { name: md5(bytes), bytes };
}

function putProductConfig(out: string): string {
  const { name, bytes } = makeProductConfig('WoW', ['enUS', 'deDE', 'frFR']);
  putObject(out, { cdnPath: 'tpr/configs/data', kind: 'product', hash: name }, bytes);
  return name;
}

function writeProduct(
  root: string,
  host: string,
  { which, configs }: { which: 'a' | 'b'; configs: TreeConfigs },
): void {
  writeServices(root, {
    product: which === 'a' ? 'wow_old' : 'wow',
    version: versionOf(which),
    buildId: buildIds[which],
    buildConfig: configs.build[which],
    cdnConfig: configs.cdn[which],
    productConfig: configs.product_config,
    keyRing: configs.keyring,
    regions: ['us', 'eu', 'cn', 'kr', 'tw', 'sg', 'xx'],
    seqn: 1000 + buildIds[which],
    cdnPath: 'tpr/wow',
    configPath: 'tpr/configs/data',
    hosts: [host],
  });
}
