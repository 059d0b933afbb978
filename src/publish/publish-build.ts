import { breatheBetween } from '../core/breathe.ts';
import { PakratError } from '../core/errors.ts';
import type { GrowingFile } from '../files/growing-file.ts';
import { decodeEncodingHeader, encodingHeaderSize } from '../formats/manifests/encoding/pages.ts';
import { putAnswers } from './answers/put-answers.ts';
import type { LiveBuild } from './earlier/live-build.ts';
import { hashContent } from './encode/content.ts';
import type { EncodedContent, Manifests } from './encode/encode-content.ts';
import { encodeInMemory, encodeOnDisk, taskBytes } from './encode/encode-object.ts';
import { Encoder } from './encode/encoder.ts';
import { especsFor, usualEspecs } from './encode/espec-choice.ts';
import type { RootKind } from './files/publish-file.ts';
import { type BuildName, makeBuildConfig, makeCdnConfig, makeProductConfig } from './manifests/configs.ts';
import { writeEncoding } from './manifests/encoding-file.ts';
import { ListedObjects, makeInstall } from './manifests/manifests.ts';
import { writeRoot } from './manifests/roots.ts';
import { type Written, writePieces } from './manifests/written.ts';
import { ArchiveWriter, putObject } from './objects/archive-writer.ts';
import { ContentWriter } from './objects/content-writer.ts';
import { type EncodeWork, encodeFiles } from './objects/encode-files.ts';
import type { EncodedFiles } from './objects/encoded-files.ts';
import { PatchWriter } from './objects/patch-writer.ts';
import { type BuildPlan, type PublishOptions, planBuild } from './plan-build.ts';

export type { PublishFile, PublishTag } from './files/publish-file.ts';
export type { PublishOptions } from './plan-build.ts';

/** A build that was published, or that is live and has all that was to be published. */
export interface PublishedBuild extends BuildName {
  buildConfig: string;
  cdnConfig: string;
  productConfig: string;
  /** The live build has these files already, and nothing was made. */
  unchanged: boolean;
  files: number;
  /** Of all files, decoded. */
  bytes: number;
  /** Encoded objects, each once, manifests and shared ones too, and their bytes. */
  objects: number;
  objectBytes: number;
  /** Of these: what the folder did not have. */
  added: { objects: number; bytes: number };
  /** Patches from the build before, and their bytes. */
  patches: { objects: number; bytes: number };
  archives: number;
  looseObjects: number;
  /** The names of a root that knows only their hashes: what a listfile holds. */
  names: { fileDataId: number; name: string }[];
}

/**
 * Makes a build of some files: archives with their indices, loose objects and their index, root, install, download, size and encoding
 * manifest, patches from the live build, configs, and last of all the tables that bring it to life. All that these name is on disk by then.
 * The same files in the same order give the same bytes, everywhere. Where the live build has all of it, and no other name is asked for,
 * nothing is made.
 * @throws E_USAGE for a name that comes twice, a product or path that cannot be; E_FORMAT…, E_INTEGRITY, E_NOT_FOUND for a live build that
 *   is not whole; E_ABORTED, E_STORE_FULL, E_STORE
 */
export async function publishBuild(options: PublishOptions): Promise<PublishedBuild> {
  const plan = await planBuild(options);
  const { folder, earlier, archiveBytes } = plan;
  const { root = 'tvfs', especs = usualEspecs, onProgress } = options;
  const encoder = new Encoder(options);
  const data = new ContentWriter(new ArchiveWriter(folder, 'data', archiveBytes, earlier?.objects));
  const patches = new PatchWriter(folder, archiveBytes);
  let files: EncodedFiles | undefined;
  try {
    const work: EncodeWork = { data, patches, encoder, especs, root, earlier, onProgress };
    files = await encodeFiles(options.files, work);
    if (files.length === 0) throw new PakratError('E_USAGE', 'there are no files to publish');
    options.onStep?.('manifests');
    return await finishBuild(plan, files, work);
  } finally {
    data.close();
    patches.close();
    files?.close();
    earlier?.close();
    await encoder.end();
  }
}

async function finishBuild(plan: BuildPlan, files: EncodedFiles, work: EncodeWork): Promise<PublishedBuild> {
  const { data, patches, root } = work;
  const { folder, live, earlier, answer, keyRing } = plan;
  const { out, cdnPath } = folder;
  const listed = await putManifests(files, work);
  const { locales, ...counts } = countFiles(files, root);
  const productConfig = makeProductConfig(answer.product, locales);
  if (live !== undefined && plan.mayBeLive && hasAll(plan, live, { ...listed, productConfig: productConfig.name }))
    return { ...counts, ...keepLive(plan, live, work) };
  work.encoder.signal?.throwIfAborted();
  const manifests = { ...listed, encoding: await putEncoding(work) };
  // What is left needs neither threads nor contents, and they take as much memory as it does.
  await work.encoder.end();
  const stored = { objects: data.contents.length, objectBytes: data.bytes };
  data.contents.close();
  const objects = await breatheBetween(data.archives.finish(), work.encoder.signal);
  const made = await breatheBetween(patches.finish(manifests), work.encoder.signal);
  const buildConfig = makeBuildConfig(answer, manifests, made, root);
  const builds = [...new Set([buildConfig.name, ...(earlier?.builds ?? [])])];
  const cdnConfig = makeCdnConfig(objects, { patches: made?.objects, builds });
  putObject(out, { cdnPath: answer.configPath, kind: 'product', hash: productConfig.name }, productConfig.bytes);
  for (const config of [buildConfig, cdnConfig, keyRing])
    if (config !== undefined) putObject(out, { cdnPath, kind: 'config', hash: config.name }, config.bytes);
  const configs = { buildConfig: buildConfig.name, cdnConfig: cdnConfig.name, productConfig: productConfig.name };
  putAnswers(out, { ...answer, ...configs });
  const { product, version, buildId } = answer;
  return {
    product,
    version,
    buildId,
    ...configs,
    unchanged: false,
    ...counts,
    ...stored,
    added: data.added,
    patches: made === undefined ? { objects: 0, bytes: 0 } : patches.added,
    archives: objects.archives.length,
    looseObjects: objects.looseCount,
  };
}

/** Manifests lie loose, so that a reader has them with one request each. What the live build has is as it is there. */
async function putManifests(files: EncodedFiles, work: EncodeWork): Promise<Omit<Manifests, 'encoding'>> {
  const { temporary } = work.data.archives;
  const putOne = async (written: Written): Promise<EncodedContent> =>
    putManifest(written, work, { especs: (ckey) => especsFor(usualEspecs, ckey) });
  const root = await putOne(writeRoot(work.root, files, temporary));
  const install = await putOne(writePieces([makeInstall(files)], temporary));
  const lists = new ListedObjects(files, [root, install]);
  const download = await putOne(writePieces(lists.download(), temporary));
  const size = await putOne(writePieces(lists.size(), temporary));
  lists.giveBack();
  return { root, install, download, size };
}

/** The encoding file lists all but itself, and says itself how it is to be encoded. */
async function putEncoding(work: EncodeWork): Promise<EncodedContent> {
  const { contents, archives } = work.data;
  return putManifest(writeEncoding(contents, archives.temporary), work, {
    especs: (_, file) => [ownEspecOf(file)],
    isLarge: true,
  });
}

/** The spec that stands at the end of an encoding file. */
function ownEspecOf(file: GrowingFile): string {
  const { ownEspecOffset } = decodeEncodingHeader(file.read(0, encodingHeaderSize));
  return new TextDecoder().decode(file.read(ownEspecOffset, file.size - ownEspecOffset));
}

/** How a manifest is encoded. */
interface ManifestEncoding {
  especs: (ckey: string, file: GrowingFile) => readonly string[];
  /** Its chunks may be as large as it is. */
  isLarge?: boolean;
}

async function putManifest(
  written: Written,
  { data, encoder, earlier }: EncodeWork,
  { especs: especsOf, isLarge }: ManifestEncoding,
): Promise<EncodedContent> {
  const file = await breatheBetween(written, encoder.signal);
  try {
    const [read, readInto] = [file.read.bind(file), file.readInto.bind(file)];
    const content = { name: 'manifest', size: file.size, isOwn: true, read, readInto };
    const ckey = await hashContent(content, encoder.signal);
    const especs = especsOf(ckey, file);
    const known = earlier?.find(ckey, especs);
    if (known !== undefined) return data.know(known);
    const one = { content, ckey, especs, isLarge };
    if (content.size <= taskBytes) return data.put(await encodeInMemory(one, encoder), true);
    return data.putFile(await encodeOnDisk(one, { encoder, archives: data.archives }));
  } finally {
    file.close();
  }
}

/** Whether the live build names just these manifests: then it has the same files, with the same names and tags. */
function hasAll(
  { earlier }: BuildPlan,
  live: LiveBuild,
  { productConfig, ...listed }: Omit<Manifests, 'encoding'> & { productConfig: string },
): boolean {
  if (earlier === undefined || live.productConfig !== productConfig) return false;
  const { config } = earlier;
  return (['root', 'install', 'download', 'size'] as const).every((name) => config[name]?.ckey === listed[name].ckey);
}

/** Leaves the live build as it is. Tables that say something else, after a publish that was killed or with other hosts, are put right. */
function keepLive(
  { folder, answer, earlier }: BuildPlan,
  live: LiveBuild,
  { data }: EncodeWork,
): Omit<PublishedBuild, 'files' | 'bytes' | 'names'> {
  const { version, buildId, buildConfig, cdnConfig, productConfig, keyRing } = live;
  const isSame = `${live.hosts} ${live.regions}` === `${answer.hosts} ${answer.regions}`;
  const build = { product: answer.product, version, buildId, buildConfig, cdnConfig, productConfig };
  putAnswers(folder.out, { ...answer, ...build, keyRing, seqn: isSame ? live.seqn : live.seqn + 1 });
  return {
    ...build,
    unchanged: true,
    objects: data.contents.length + 1,
    objectBytes: data.bytes + (earlier?.config.encoding.encodedSize ?? 0),
    added: { objects: 0, bytes: 0 },
    patches: { objects: 0, bytes: 0 },
    archives: earlier?.objects.archives.length ?? 0,
    looseObjects: earlier?.objects.loose.length ?? 0,
  };
}

function countFiles(
  files: EncodedFiles,
  root: RootKind,
): Pick<PublishedBuild, 'files' | 'bytes' | 'names'> & { locales: string[] } {
  let bytes = 0;
  const locales = new Set<string>();
  const names = new Map<number, string>();
  for (const { name, locale, fileDataId, size } of files) {
    bytes += size;
    if (locale !== undefined) locales.add(locale);
    if (root === 'wow' && fileDataId !== undefined) names.set(fileDataId, name);
  }
  return {
    files: files.length,
    bytes,
    names: [...names].sort(([a], [b]) => a - b).map(([fileDataId, name]) => ({ fileDataId, name })),
    locales: [...locales].sort(),
  };
}
