import * as fs from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { codeOf, isStoreTrouble, PakratError, withHint } from '../core/errors.ts';
import { noting, stepping, type WorkOptions } from '../core/progress.ts';
import { makeFolderDurable } from '../files/durable.ts';
import { readList } from '../files/given/text-list.ts';
import { clearDeadTemporaries } from '../files/temporary.ts';
import { decodeKeyList } from '../formats/configs/key-list.ts';
import { lockStore } from '../store/ledger/sqlite.ts';
import { findLiveBuild } from './earlier/live-build.ts';
import type { EncoderOptions } from './encode/encoder.ts';
import { parseEspecChoice } from './encode/espec-choice.ts';
import { fileIn, ListedFolder } from './files/folder-files.ts';
import type { FileFacts, PublishFile } from './files/publish-file.ts';
import { decodeTagFile, type TagFile } from './files/tag-file.ts';
import { type PublishedBuild, publishBuild } from './publish-build.ts';

/** A folder to publish, and how. */
export interface PublishFolderOptions extends WorkOptions, Pick<EncoderOptions, 'threads' | 'workerUrl'> {
  /** Product code, such as `mygame`. */
  product: string;
  /** Folder for a web server; made when it is not there. */
  to: string;
  /** Version name. Default: `1.0.0.` and the build id. */
  buildName?: string | undefined;
  /** Default: one more than that of the live build. */
  buildId?: number | undefined;
  /** A file that says what files are for, or the bytes of one: words, then a glob, on a line. */
  tags?: string | AsyncIterable<Uint8Array> | undefined;
  /** How files are encoded: `z`, `n`, `b:{1M*=z:9}`. Default: deflated where that makes a file smaller. */
  espec?: string | undefined;
  /** A key list. Its one key encrypts every file, unless the tag file says which key encrypts which. */
  keys?: string | undefined;
  /** `host` or `host:port`, as `cdns` is to name them. Default: those of the live build, or `localhost`. */
  hosts?: readonly string[] | undefined;
}

/** A published folder, as `publish --json` prints it. */
export interface PublishReport extends Omit<PublishedBuild, 'names'> {
  /** The folder that a web server is to serve. */
  out: string;
}

/**
 * Makes a build of a folder, beside those that are there; a reader has the old build until the new one is whole.
 * @throws E_USAGE for what cannot be published so, E_NOT_FOUND, E_FORMAT… for a list that is none, E_STORE_LOCKED while another does the same,
 *   and as publishBuild
 */
export async function publishFolder(folder: string, options: PublishFolderOptions): Promise<PublishReport> {
  const { product, to, buildName: version, buildId, espec, hosts, threads, workerUrl, signal, onProgress } = options;
  const out = checkFolders(folder, to);
  const especs = espec === undefined ? undefined : parseEspecChoice(espec);
  const tagFile = await readFacts(options);
  const onStep = stepping(onProgress);
  const note = noting(onProgress);
  const release = lockFolder(out);
  let listed: ListedFolder<FileFacts> | undefined;
  try {
    clearDeadTemporaries(out);
    onStep('files of the folder');
    listed = await ListedFolder.open(folder, tagFile.factsOf, { temporary: out, signal });
    const { count, size: total, links } = listed;
    if (links > 0) note(`links are not published: ${links} passed over`);
    for (const glob of tagFile.unused()) note(`no file matches ${glob} of the tag file`);
    const counted = { done: 0, total: count };
    let done = 0;
    const onDone = ({ bytes, files: count }: { bytes: number; files: number }): void => {
      done += bytes;
      counted.done += count;
      onProgress?.({ type: 'bytes', phase: 'publish', done, total, files: { ...counted } });
    };
    onDone({ bytes: 0, files: 0 });
    if (!hosts?.length && findLiveBuild(out, product) === undefined)
      note('clients are sent to localhost; name the host that they are to fetch from with --host');
    const files = filesIn(folder, listed);
    const work = { files, out, hosts, especs, threads, workerUrl, signal, onProgress: onDone, onStep };
    const { names: hashed, ...built } = await publishBuild({ product, version, buildId, ...work });
    return { out: to, ...built };
  } catch (error) {
    throw isStoreTrouble(error) && codeOf(error) === 'E_STORE_FULL'
      ? withHint(error, 'Free some space and publish again: the build that was live still is.')
      : error;
  } finally {
    listed?.close();
    release();
  }
}

/** Files that are made when it is their turn. */
function* filesIn(folder: string, listed: ListedFolder<FileFacts>): Generator<PublishFile> {
  for (const { name, size, facts } of listed) yield { ...fileIn(folder, name), size, ...facts };
}

/** @throws E_USAGE when one of the folders is in the other, E_NOT_FOUND, E_STORE */
function checkFolders(folder: string, to: string): string {
  if (to === '') throw new PakratError('E_USAGE', '--to names no folder', { hint: 'Write . for this one.' });
  const [from, out] = [realFolder(folder), realFolder(to)];
  for (const [inner, outer] of [
    [from, out],
    [out, from],
  ] as const) {
    if (inner !== outer && !inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)) continue;
    throw new PakratError(
      'E_USAGE',
      `${folder} and ${to} are in one another: what is published would be published again`,
      {
        hint: 'Name a folder beside it: --to DIR.',
        data: { folder, to },
      },
    );
  }
  if (fs.statSync(from, { throwIfNoEntry: false })?.isDirectory() === true) return out;
  const what = fs.existsSync(from) ? 'is no folder' : 'is not there';
  throw new PakratError(fs.existsSync(from) ? 'E_USAGE' : 'E_NOT_FOUND', `${folder} ${what}`, {
    data: { path: folder },
  });
}

/** A path without links, as far as it is there. */
function realFolder(path: string): string {
  const full = resolve(path);
  for (let at = full; ; at = dirname(at)) {
    if (fs.existsSync(at)) return join(fs.realpathSync(at), relative(at, full));
    if (dirname(at) === at) return full;
  }
}

/** What the tag file and the keys say of names. @throws E_USAGE for keys of which nobody says what they encrypt, E_NOT_FOUND, E_FORMAT… */
async function readFacts({ tags, keys: keyFile }: PublishFolderOptions): Promise<TagFile> {
  const keys = keyFile === undefined ? [] : decodeKeyList(await readList(keyFile));
  const tagFile = decodeTagFile(tags === undefined ? new Uint8Array() : await readList(tags), keys);
  const [key, ...others] = tagFile.namesKeys ? [] : keys;
  if (key === undefined) return tagFile;
  if (others.length > 0) {
    throw new PakratError('E_USAGE', `${keyFile} has ${keys.length} keys, and nothing says which files they encrypt`, {
      hint: 'Say it in the tag file (--tags): key:NAME, then a glob, on a line. One key alone encrypts every file.',
    });
  }
  return { ...tagFile, factsOf: (name) => ({ ...tagFile.factsOf(name), key }) };
}

/** Keeps other processes from publishing into the same folder. @returns the release @throws E_STORE_LOCKED, E_STORE… */
function lockFolder(out: string): () => void {
  makeFolderDurable(out);
  return lockStore(join(out, '.publish.lock'), `publishing into ${out}`);
}
