import * as fs from 'node:fs';
import { join } from 'node:path';
import { PakratError } from '../core/errors.ts';
import { writeFileDurable } from '../files/durable.ts';
import { decodeCdnConfig } from '../formats/configs/cdn-config.ts';
import type { TactKey } from '../formats/configs/key-list.ts';
import { decodeArchiveIndex } from '../formats/indices/archive-index.ts';
import { decodeEncoding } from '../formats/manifests/encoding/decode.ts';
import { cell, decodeBpsv } from '../formats/services/bpsv.ts';
import { isSafeCdnPath, objectPath } from '../store/layout.ts';
import { putChannels } from './answers/put-channels.ts';
import type { PublishFile } from './files/publish-file.ts';
import {
  type BuildName,
  makeBuildConfig,
  makeCdnConfig,
  makeCdns,
  makeKeyRing,
  makeProductConfig,
  makeSummary,
  makeVersions,
  type ServiceAnswer,
} from './manifests/configs.ts';
import { makeDownloadAndSize, makeEncoding, makeInstall, makeRoot } from './manifests/manifests.ts';
import { ArchiveWriter, type CdnFolder, type EarlierObjects, putObject } from './objects/archive-writer.ts';
import { encodeContent, encodeWith, type Manifests } from './objects/encode-content.ts';
import { ContentWriter, type EncodedFile, encodeFiles } from './objects/encode-files.ts';
import { PatchWriter } from './objects/patch-writer.ts';

export type { PublishFile, PublishTag } from './files/publish-file.ts';

interface CdnPaths {
  /** Default `tpr/PRODUCT`. */
  cdnPath?: string | undefined;
  /** Of product configs. Default `tpr/configs/data`. */
  configPath?: string | undefined;
}

/** What to publish, and where. */
export interface PublishOptions extends BuildName, CdnPaths {
  /** One file at a time is in memory, with its encodings; of the others a row of keys and names is. */
  files: Iterable<PublishFile>;
  /** Folder for a web server; made when it is not there. Other products and builds in it stay, and what the live build has is not stored again. */
  out: string;
  /** `host` or `host:port`, as `cdns` is to name them. */
  hosts: readonly string[];
  /** Default us, eu, kr, tw, sg and cn. */
  regions?: readonly string[] | undefined;
  /** Sequence number of `versions` and `cdns`; must rise from build to build. Default: the build id. */
  seqn?: number | undefined;
  /** Keys that everybody is to have who asks for the product. */
  keyRing?: readonly TactKey[] | undefined;
  /** Size that no archive exceeds; default (and most) 256 MiB less one: offsets above are not read by all. */
  archiveBytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** What was published. */
export interface PublishedBuild extends BuildName {
  buildConfig: string;
  cdnConfig: string;
  productConfig: string;
  files: number;
  /** Of all files, decoded. */
  bytes: number;
  /** Encoded objects, each once, manifests and shared ones too, and their bytes. */
  objects: number;
  objectBytes: number;
  archives: number;
  looseObjects: number;
  /** The names of the root, which itself knows only their hashes: what a listfile holds. */
  names: { fileDataId: number; name: string }[];
}

const maxArchiveBytes = 2 ** 28 - 1;
const defaultRegions = ['us', 'eu', 'kr', 'tw', 'sg', 'cn'];

/**
 * Makes a build of some files: archives with their indices, loose objects and their index, root (as World of Warcraft has it since 11.1),
 * install, download, size and encoding manifest, configs, and last of all `versions`, `cdns` and the summary of channels, which bring it to life.
 * The same files in the same order give the same bytes, everywhere.
 * @throws E_USAGE for a name that comes twice, a product or path that cannot be; E_ABORTED; errors of the file system as they come
 */
export async function publishBuild(options: PublishOptions): Promise<PublishedBuild> {
  const { out, product, version, buildId, cdnPath = `tpr/${product}`, configPath = 'tpr/configs/data' } = options;
  checkNames({ product, version, buildId, cdnPath, configPath });
  const archiveBytes = archiveBytesOf(options);
  const earlier = findEarlierBuild({ out, cdnPath }, product);
  const data = new ContentWriter(new ArchiveWriter({ out, cdnPath }, 'data', archiveBytes, earlier));
  const patches = new PatchWriter({ out, cdnPath }, archiveBytes);
  try {
    const files = await encodeFiles(options.files, { data, patches }, options.signal);
    if (files.length === 0) throw new PakratError('E_USAGE', 'there are no files to publish');
    const manifests = putManifests(files, data);
    const objects = data.archives.finish();
    const made = patches.finish(manifests);
    const buildConfig = makeBuildConfig(options, manifests, made);
    const builds = [...new Set([buildConfig.name, ...earlier.builds])];
    const cdnConfig = makeCdnConfig(objects, { patches: made?.objects, builds });
    const productConfig = makeProductConfig(product, localesOf(files));
    const keyRing = options.keyRing?.length ? makeKeyRing(options.keyRing) : undefined;
    for (const { name, bytes } of [buildConfig, cdnConfig, ...(keyRing ? [keyRing] : [])])
      putObject(out, { cdnPath, kind: 'config', hash: name }, bytes);
    putObject(out, { cdnPath: configPath, kind: 'product', hash: productConfig.name }, productConfig.bytes);
    const configs = { buildConfig: buildConfig.name, cdnConfig: cdnConfig.name, productConfig: productConfig.name };
    const { regions = defaultRegions, seqn = buildId, hosts } = options;
    const answer = { product, version, buildId, ...configs, keyRing: keyRing?.name ?? '' };
    const service = { ...answer, cdnPath, configPath, hosts, regions, seqn };
    putAnswers(out, service);
    putChannels(out, service);
    return {
      product,
      version,
      buildId,
      ...configs,
      files: files.length,
      bytes: files.reduce((sum, file) => sum + file.content.size, 0),
      objects: data.contents.size,
      objectBytes: data.bytes,
      archives: objects.archives.length,
      looseObjects: objects.looseCount,
      names: namesOf(files),
    };
  } finally {
    data.archives.close();
    patches.close();
  }
}

/** What becomes a file name, a cell of a table or a word of a config must be one word. */
function checkNames({
  product,
  version,
  buildId,
  cdnPath,
  configPath,
}: BuildName & { [Path in keyof CdnPaths]-?: string }): void {
  for (const word of [product, version, cdnPath, configPath]) {
    const single = word === product || word === version;
    if (!isSafeCdnPath(word) || word.length > 64 || (single && word.includes('/'))) {
      throw new PakratError('E_USAGE', `${JSON.stringify(word)} cannot be a product, a version or a path of one`, {
        hint: 'Letters, digits, dots, dashes and underscores are possible.',
      });
    }
  }
  if (!(Number.isInteger(buildId) && buildId >= 0 && buildId < 2 ** 32))
    throw new PakratError('E_USAGE', `${buildId} cannot be a build id`);
}

function archiveBytesOf({ archiveBytes = maxArchiveBytes }: PublishOptions): number {
  if (archiveBytes >= 1 && archiveBytes <= maxArchiveBytes) return archiveBytes;
  throw new PakratError('E_USAGE', `archives of ${archiveBytes} bytes: 1 to ${maxArchiveBytes} are possible`);
}

/** Manifests lie loose, so that a reader has them with one request each. The encoding file lists all but itself. */
function putManifests(files: readonly EncodedFile[], data: ContentWriter): Manifests {
  const root = data.put(encodeContent(makeRoot(files)), true);
  const install = data.put(encodeContent(makeInstall(files)), true);
  const lists = makeDownloadAndSize(files, [root, install]);
  const download = data.put(encodeContent(lists.download), true);
  const size = data.put(encodeContent(lists.size), true);
  const bytes = makeEncoding([...data.contents.values()]);
  const encoding = data.put(encodeWith(bytes, decodeEncoding(bytes).ownEspec), true);
  return { root, install, download, size, encoding };
}

function localesOf(files: readonly EncodedFile[]): string[] {
  return [...new Set(files.flatMap(({ locale }) => locale ?? []))].sort();
}

function namesOf(files: readonly EncodedFile[]): { fileDataId: number; name: string }[] {
  const names = new Map(
    files.flatMap(({ fileDataId, name }) => (fileDataId === undefined ? [] : [[fileDataId, name] as const])),
  );
  return [...names].sort(([a], [b]) => a - b).map(([fileDataId, name]) => ({ fileDataId, name }));
}

/**
 * Writes `versions` and `cdns` under both URLs that clients ask, then the list of all products. Each is replaced in one go: a reader sees
 * the old or the new.
 */
function putAnswers(out: string, answer: ServiceAnswer): void {
  const tables = { cdns: makeCdns(answer), versions: makeVersions(answer) };
  for (const folder of [join(out, answer.product), join(out, 'v2', 'products', answer.product)]) {
    for (const [name, bytes] of Object.entries(tables)) writeFileDurable(join(folder, name), bytes, out);
  }
  const summary = join(out, 'v2', 'summary');
  writeFileDurable(summary, makeSummary(answer, readIfThere(summary)), out);
}

interface EarlierBuild extends EarlierObjects {
  /** The builds that its CDN config names, newest first. */
  builds: readonly string[];
}

const noBuild: EarlierBuild = { indices: [], loose: [], builds: [] };

/**
 * Finds the live build of a product in a folder, whose objects a further build shares. One that was published under another path has none there.
 * @throws E_FORMAT, E_INTEGRITY for a table, config or index that is damaged; errors of the file system as they come
 */
function findEarlierBuild({ out, cdnPath }: CdnFolder, product: string): EarlierBuild {
  const versions = readIfThere(join(out, product, 'versions'));
  const cdnConfig = versions && cell(decodeBpsv(versions).rows[0] ?? {}, 'CDNConfig');
  const config = cdnConfig && readIfThere(join(out, objectPath({ cdnPath, kind: 'config', hash: cdnConfig })));
  if (!config) return noBuild;
  const { archives, fileIndex, builds } = decodeCdnConfig(config);
  const index = (name: string): { name: string; bytes: Uint8Array } => {
    const path = objectPath({ cdnPath, kind: 'data', hash: name, suffix: '.index' });
    return { name, bytes: new Uint8Array(fs.readFileSync(join(out, path))) };
  };
  const loose = fileIndex === undefined ? [] : [...decodeArchiveIndex(index(fileIndex).bytes, fileIndex)];
  return { indices: archives.map(index), loose, builds };
}

function readIfThere(path: string): Uint8Array | undefined {
  return fs.existsSync(path) ? new Uint8Array(fs.readFileSync(path)) : undefined;
}
