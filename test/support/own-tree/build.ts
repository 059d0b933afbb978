import { concatBytes } from '../../../src/core/bytes.ts';
import type { TactKey } from '../../../src/formats/configs/key-list.ts';
import { decodeDownload, encodeDownload } from '../../../src/formats/manifests/download.ts';
import { decodeEncoding } from '../../../src/formats/manifests/encoding/decode.ts';
import { type EncodedContent, encodeWith, type Manifests } from '../../../src/publish/encode/encode-content.ts';
import type { PublishFile } from '../../../src/publish/files/publish-file.ts';
import { writeEncoding } from '../../../src/publish/manifests/encoding-file.ts';
import { ListedObjects, makeInstall } from '../../../src/publish/manifests/manifests.ts';
import { Contents } from '../../../src/publish/objects/contents.ts';
import { EncodedFiles } from '../../../src/publish/objects/encoded-files.ts';
import { allSteps } from '../all-steps.ts';
import { fileContent, stream } from './content.ts';
import type { TreeObjects } from './objects.ts';
import type { TreeOptions } from './options.ts';
import type { PlannedFile, PlannedInstall } from './plan.ts';
import { type PiecedFile, type TreeRow, tvfsFiles, twin, writeTextRoot, writeTvfs, writeWowRoot } from './roots.ts';
import { tagsOfClass } from './tags.ts';

/** What both builds of a tree are made of. */
export interface TreePlan {
  options: TreeOptions;
  keys: readonly TactKey[];
  files: readonly PlannedFile[];
  install: readonly PlannedInstall[];
}

/** A build whose objects are stored. */
export interface TreeBuild {
  rows: TreeRow[];
  install: { path: string; tagClass: string; content: EncodedContent }[];
  manifests: Manifests;
  /** The manifests of a TVFS, the outer one first. */
  tvfs: EncodedContent[];
  /** Every encoding that the encoding file lists. */
  contents: EncodedContent[];
}

/** The bytes of a row. */
export function rowContent({ file, locale, revision }: Omit<TreeRow, 'encodings'>, { seed }: TreeOptions): Buffer {
  const { size, kind } = file;
  if (locale === twin) return fileContent({ seed, name: file.name + twin, locale: '', revision, size, kind });
  return fileContent({ seed, name: file.name, locale, revision, size, kind });
}

/** Stores the objects of a build, the encoding file last. */
export function makeBuild(which: 'a' | 'b', plan: TreePlan, objects: TreeObjects): TreeBuild {
  const { options } = plan;
  const putManifest = (bytes: Uint8Array): EncodedContent => storeOne(objects, bytes, options.looseMeta);
  const rows = plan.files.flatMap((file) => storeFile(file, which, { plan, objects }));
  const install = storeInstall(which, plan, objects);
  const pieced = options.layout === 'tvfs' ? storePieced(options, objects) : [];
  const tvfs = options.layout === 'tvfs' ? putTvfs([...tvfsFiles(rows), ...pieced], putManifest) : [];
  const root = putManifest(makeRoot(which, rows, options));
  const listed = [...rows.flatMap(rowFiles), ...install.map(installFile), ...pieced.flatMap(piecesOf)];
  const temporary = objects.data.archives.temporary;
  // Of this build alone: the objects of a tree are those of two.
  const known = new Contents(temporary);
  const contents: EncodedContent[] = [];
  const know = (content: EncodedContent): void => {
    if (known.numberOf(content) >= 0) return;
    known.add(content);
    contents.push(content);
  };
  const files = new EncodedFiles(known, temporary);
  for (const { file, content } of listed) {
    know(content);
    files.add(file, content);
  }
  for (const one of [...tvfs, root]) know(one);
  const installManifest = putManifest(makeInstall(files));
  know(installManifest);
  const lists = new ListedObjects(files, [root, installManifest, ...tvfs]);
  const version = options.downloadVersions[which === 'a' ? 0 : 1];
  const download = putManifest(asVersion(concatBytes([...lists.download()]), version));
  const size = putManifest(concatBytes([...lists.size()]));
  for (const one of [download, size]) know(one);
  const written = allSteps(writeEncoding(known, temporary));
  const bytes = written.read(0, written.size);
  for (const one of [written, files, known]) one.close();
  const encoding = objects.data.put(encodeWith(bytes, decodeEncoding(bytes).ownEspec), true);
  return { rows, install, manifests: { root, install: installManifest, download, size, encoding }, tvfs, contents };
}

/** A file that manifests list, and its content. */
interface Listed {
  file: PublishFile;
  content: EncodedContent;
}

const read = (): never => {
  throw new Error('it is encoded');
};

function storeOne(objects: TreeObjects, bytes: Uint8Array, isLoose: boolean): EncodedContent {
  const [content] = objects.store(bytes, { encoding: 'bz', isLoose });
  return content!;
}

function storeFile(
  file: PlannedFile,
  which: 'a' | 'b',
  { plan: { options, keys }, objects }: { plan: TreePlan; objects: TreeObjects },
): TreeRow[] {
  const revision = file.revisions[which];
  if (revision === undefined) return [];
  const locales = file.isLocalized ? ['enUS', 'deDE', 'frFR'] : [''];
  const variants = file.hasTwin ? [...locales, twin] : locales;
  return variants.map((locale): TreeRow => {
    const row = { file, locale, revision: locale === twin ? 1 : revision };
    const { encoding, isLoose, isTwice } = file;
    const key = file.key === undefined ? undefined : keys[file.key];
    const how = locale === twin ? { encoding: 'z' as const } : { encoding, isLoose, isTwice, key };
    const name = `${file.id} ${locale} ${row.revision}`;
    return { ...row, encodings: objects.storeNamed(name, () => rowContent(row, options), how) as TreeRow['encodings'] };
  });
}

function storeInstall(which: 'a' | 'b', { install, options }: TreePlan, objects: TreeObjects): TreeBuild['install'] {
  return install.map(([path, tagClass, size]) => {
    const revision = which === 'b' && path.endsWith('.exe') ? 2 : 1;
    const rule = { seed: options.seed, name: `install|${path}`, locale: '', revision, size, kind: 't' };
    return { path, tagClass, content: storeOne(objects, fileContent(rule), false) };
  });
}

function storePieced({ seed, spans }: TreeOptions, objects: TreeObjects): PiecedFile[] {
  return Array.from({ length: spans }, (_, file) => {
    const pieces = [0, 1, 2].map((piece) => {
      const rule = {
        seed,
        name: `span${file}.${piece}`,
        locale: '',
        revision: 1,
        size: 20000 + 777 * piece,
        kind: 'r',
      };
      return objects.store(fileContent(rule), { encoding: 'bn' })[0]!;
    });
    return { path: `zone/big${file}.xpak`, pieces };
  });
}

/** One folder has a manifest of its own, which the outer one names as a file. */
function putTvfs(files: readonly PiecedFile[], put: (bytes: Uint8Array) => EncodedContent): EncodedContent[] {
  const folder = 'interface/';
  const isInside = ({ path }: PiecedFile): boolean => path.startsWith(folder);
  const inside = files.filter(isInside).map(({ path, pieces }) => ({ path: path.slice(folder.length), pieces }));
  const inner = put(writeTvfs(inside));
  const outer = put(writeTvfs([...files.filter((file) => !isInside(file)), { path: 'interface', pieces: [inner] }]));
  return [outer, inner];
}

function makeRoot(which: 'a' | 'b', rows: readonly TreeRow[], { layout, rootFormat, seed }: TreeOptions): Uint8Array {
  if (layout === 'wow') return writeWowRoot(rows, rootFormat);
  if (layout === 'text') return writeTextRoot(rows);
  // Products with a TVFS keep only a stub here.
  return new TextEncoder().encode(stream(`${seed}|${which}|root`, 16).toString('hex'));
}

function rowFiles({ file, locale, encodings }: TreeRow): Listed[] {
  const tags = tagsOfClass(locale === '' || locale === twin ? file.tagClass : locale);
  return encodings.map((content) => ({ file: { name: file.name, tags, priority: file.priority, read }, content }));
}

function installFile({ path, tagClass, content }: TreeBuild['install'][number]): Listed {
  const name = path.replaceAll('\\', '/');
  return { file: { name, install: true, tags: tagsOfClass(tagClass), priority: -1, read }, content };
}

function piecesOf({ path, pieces }: PiecedFile): Listed[] {
  return pieces.map((content) => ({ file: { name: path, tags: tagsOfClass('all'), priority: 1, read }, content }));
}

/** A download manifest in another version of its format. */
function asVersion(bytes: Uint8Array, version: 1 | 2 | 3): Uint8Array {
  if (version === 1) return bytes;
  const { count, tags, entry } = decodeDownload(bytes);
  const entries = Array.from({ length: count }, (_, i) => ({ ...entry(i), flags: 0 }));
  return encodeDownload({ version, flagSize: 1, basePriority: version === 3 ? 2 : 0, entries, count, tags });
}
