import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { breathe } from '../../core/breathe.ts';
import { isDamage, isNotFound, resultUnless, valueUnless } from '../../core/errors.ts';
import { plural } from '../../core/quantities.ts';
import { ReusedBytes } from '../../core/tables/large-bytes.ts';
import { readable, readWhole } from '../../files/read-at.ts';
import type { CdnConfig } from '../../formats/configs/cdn-config.ts';
import { ArchiveGroupEncoder } from '../../formats/indices/archive-group.ts';
import { type ArchiveIndex, decodeArchiveIndex, encodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { isLacking, removeDerived } from '../../store/derived/derived-file.ts';
import { DerivedWriter } from '../../store/derived/derived-writer.ts';
import type { ObjectName } from '../../store/layout.ts';
import { type BuildPlace, type Objects, optional, unlessLacking } from '../objects.ts';
import { PagedIndex } from './paged-index.ts';

/** The sorted index of all archives of a CDN config; made from their indices when it is not there or not whole. */
export async function openGroup(place: BuildPlace, cdnConfig: CdnConfig): Promise<PagedIndex | undefined> {
  if (cdnConfig.archives.length === 0) return undefined;
  const file = join(place.folders.groups, `${place.identity.cdnConfig}.index`);
  const of = groupMark(cdnConfig);
  const group = resultUnless(isLacking, () => new PagedIndex(file, of));
  return group ?? new PagedIndex(await makeGroup(file, of, place, cdnConfig), of);
}

/** The mark of a group: entries in it lead to the archives by their numbers. */
export function groupMark({ archives }: CdnConfig): number {
  return crc32(archives.join('\n'));
}

/** @returns the file that it became */
async function makeGroup(file: string, of: number, place: BuildPlace, cdnConfig: CdnConfig): Promise<string> {
  const { folders, identity, objects, onStep, onNote } = place;
  onStep?.(`${cdnConfig.archives.length} archive indices`);
  const sizes = cdnConfig.archiveIndexSizes;
  const names = cdnConfig.archives.map((hash) => indexName(identity.cdnPath, 'data', hash));
  const files = names.map((name, i) => optional(objects.index(name, sizes[i]), { orOffline: true }));
  // That hosts fail otherwise may be over soon: then a build is not opened in part. All are fetched side by side, and one that fails is told of in its turn.
  for (const file of files) file.catch(() => {});
  const group = new ArchiveGroupEncoder();
  // The group takes what it needs of one before the next is read.
  const memory = new ReusedBytes();
  let lacking = 0;
  for (const [i, name] of names.entries()) {
    const path = await files[i];
    const known = path === undefined ? undefined : { name, size: sizes[i], file: path, memory };
    const index = known && (await valueUnless(isDamage, optional(openAgain(objects, known), { orOffline: true })));
    if (index === undefined) lacking += 1;
    group.add(index ?? noEntries());
  }
  // That of an archive of tiny files has 50 MB.
  memory.giveBack();
  if (lacking > 0)
    onNote?.(`${plural(lacking, 'archive index', 'archive indices')} cannot be had, nor what lies there`);
  // A group that is not whole is made again each time: it has another name.
  const made = lacking > 0 ? `${file}.part` : file;
  await writeGroup(made, group, folders.temporary, of);
  if (lacking === 0) removeDerived(`${file}.part`);
  return made;
}

async function writeGroup(path: string, group: ArchiveGroupEncoder, temporary: string, of: number): Promise<void> {
  const writer = new DerivedWriter(temporary, { of });
  try {
    for (const piece of group.encode()) {
      await breathe();
      writer.append(piece);
    }
    writer.finish(path);
  } finally {
    writer.close();
  }
}

function noEntries(): ArchiveIndex {
  return decodeArchiveIndex(encodeArchiveIndex([]).bytes);
}

/** The index of the loose objects; undefined when the CDN config names none, or nobody has it: the encoding file has their sizes, too. */
export async function openFileIndex(place: BuildPlace, cdnConfig: CdnConfig): Promise<ArchiveIndex | undefined> {
  const { fileIndex, fileIndexSize } = cdnConfig;
  if (fileIndex === undefined) return undefined;
  const name = indexName(place.identity.cdnPath, 'data', fileIndex);
  return unlessLacking(place, 'the index of its loose files', readIndex(place.objects, name, fileIndexSize));
}

/** An index; fetched where it is not there. @param size what a config promises it to have @throws as `Objects.index` */
export async function readIndex(objects: Objects, name: ObjectName, size?: number): Promise<ArchiveIndex> {
  return openAgain(objects, { name, size, file: await objects.index(name, size) });
}

/** An index that lies in the store. One that another process let go of before it was read is asked for once more. */
async function openAgain(
  objects: Objects,
  { name, size, file, memory }: { name: ObjectName; size: number | undefined; file: string; memory?: ReusedBytes },
): Promise<ArchiveIndex> {
  const index = await valueUnless(isNotFound, openIndex(objects, name, file, memory));
  return index ?? openIndex(objects, name, await objects.index(name, size), memory);
}

async function openIndex(
  objects: Objects,
  name: ObjectName,
  file: string,
  memory = new ReusedBytes(),
): Promise<ArchiveIndex> {
  await breathe();
  const bytes = readable(file, () => readWhole(file, memory));
  return decodeArchiveIndex(objects.decrypt?.(name, bytes, 0) ?? bytes, name.hash);
}

/** The name of an index object. */
export function indexName(cdnPath: string, kind: 'data' | 'patch', hash: string): ObjectName {
  return { cdnPath, kind, hash, suffix: '.index' };
}
