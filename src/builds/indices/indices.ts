import * as fs from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { breathe } from '../../core/breathe.ts';
import type { CdnConfig } from '../../formats/configs/cdn-config.ts';
import { encodeArchiveGroupInSteps } from '../../formats/indices/archive-group.ts';
import { type ArchiveIndex, decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { openDerived } from '../../store/derived-file.ts';
import { writeDerived } from '../../store/derived-writer.ts';
import type { ObjectName } from '../../store/layout.ts';
import type { BuildPlace, Objects } from '../objects.ts';
import { PagedIndex } from './paged-index.ts';

/** The sorted index of all archives of a CDN config; made from their indices when it is not there or not whole. */
export async function openGroup(place: BuildPlace, cdnConfig: CdnConfig): Promise<PagedIndex | undefined> {
  if (cdnConfig.archives.length === 0) return undefined;
  const file = join(place.folders.groups, `${place.identity.cdnConfig}.index`);
  const of = groupMark(cdnConfig);
  return openDerived(
    () => new PagedIndex(file, of),
    () => makeGroup(file, of, place, cdnConfig),
  );
}

/** The mark of a group: entries in it lead to the archives by their numbers. */
export function groupMark({ archives }: CdnConfig): number {
  return crc32(archives.join('\n'));
}

async function makeGroup(file: string, of: number, place: BuildPlace, cdnConfig: CdnConfig): Promise<void> {
  const { folders, identity, objects, onStep } = place;
  onStep?.(`${cdnConfig.archives.length} archive indices`);
  const sizes = cdnConfig.archiveIndexSizes;
  const names = cdnConfig.archives.map((hash) => indexName(identity.cdnPath, 'data', hash));
  const indices = await Promise.all(names.map((name, i) => readIndex(objects, name, sizes[i])));
  const { bytes } = await encodeArchiveGroupInSteps(indices);
  writeDerived(file, bytes, folders.temporary, { of });
}

/** The index of the loose objects; undefined when the CDN config names none. */
export async function openFileIndex(place: BuildPlace, cdnConfig: CdnConfig): Promise<ArchiveIndex | undefined> {
  const { fileIndex, fileIndexSize } = cdnConfig;
  return fileIndex === undefined
    ? undefined
    : readIndex(place.objects, indexName(place.identity.cdnPath, 'data', fileIndex), fileIndexSize);
}

/** An index; fetched where it is not there. @param size what a config promises it to have @throws as `Objects.index` */
export async function readIndex(objects: Objects, name: ObjectName, size?: number): Promise<ArchiveIndex> {
  const file = await objects.index(name, size);
  await breathe();
  const bytes = new Uint8Array(fs.readFileSync(file));
  return decodeArchiveIndex(objects.decrypt?.(name, bytes, 0) ?? bytes, name.hash);
}

/** The name of an index object. */
export function indexName(cdnPath: string, kind: 'data' | 'patch', hash: string): ObjectName {
  return { cdnPath, kind, hash, suffix: '.index' };
}
