import { type BuildFile, listFiles, sameFiles, sizeOf } from '../../builds/files.ts';
import { isDamage, resultUnless } from '../../core/errors.ts';
import type { NeededText } from '../../core/glob.ts';
import { md5Hex } from '../../core/hash.ts';
import type { IdSet } from '../../core/tables/id-set.ts';
import { isBuildSource } from '../build-source.ts';
import type { Source, SourceEntry } from '../source.ts';
import type { DiffRow, DiffSide, Mark } from './diff-table.ts';

/** The files of a side that are compared. */
export interface RowChoice {
  matches: (name: string) => boolean;
  /** Of these texts every name has one that matches; undefined where that is not known. */
  needed?: readonly NeededText[] | undefined;
  /** Of a build only what its names tell, which spares a look-up for each file; sizes are for {@link fillSizes}. */
  keysOnly: boolean;
  /** Ids that are left out. */
  without?: IdSet | undefined;
}

/** The files of a source that it gives for their names, as rows. */
export async function* diffRows(source: Source, choice: RowChoice): AsyncGenerator<DiffRow> {
  const { matches, needed, keysOnly } = choice;
  if (keysOnly && isBuildSource(source)) {
    const { build, locale } = source;
    for await (const batch of listFiles(build, { ...choice, locale })) yield* batch.map(rowOfFile);
    return;
  }
  for await (const entry of source.list(matches, { needed })) if (entry.hidden === undefined) yield rowOfEntry(entry);
}

/** The ids of files that are equal on both sides, and called the same; undefined where that cannot be told at once. @throws E_ABORTED */
export async function equalIds(before: Source, after: Source, signal?: AbortSignal): Promise<IdSet | undefined> {
  if (!isBuildSource(before) || !isBuildSource(after) || before.locale !== after.locale) return undefined;
  return sameFiles(before.build, after.build, { locale: before.locale, signal });
}

/** True where files have ids, and may change their names. */
export async function hasIds(source: Source): Promise<boolean> {
  return isBuildSource(source) && (await source.build.root()).kind === 'wow';
}

function nameUnlessId(name: string, fileDataId: number | undefined): string | undefined {
  return fileDataId !== undefined && name === `fdid:${fileDataId}` ? undefined : name;
}

function rowOfFile({ name, fileDataId, parts }: BuildFile): DiffRow {
  const [first, another] = parts;
  const whole = another === undefined ? first?.ckey : undefined;
  const mark: Mark = whole === undefined ? { by: 'keys', key: md5Hex(partKeys(parts)) } : { by: 'md5', key: whole };
  return { name: nameUnlessId(name, fileDataId), fileDataId, index: undefined, size: sizeOf(parts), mark };
}

function partKeys(parts: BuildFile['parts']): Uint8Array {
  return Buffer.from(parts.map(({ ckey, ekey, size }) => `${ckey ?? ekey} ${size ?? ''}`).join('\n'));
}

function rowOfEntry({ name, size, md5, index, facts }: SourceEntry): DiffRow {
  const fileDataId = typeof facts.fileDataId === 'number' ? facts.fileDataId : undefined;
  const mark: Mark | undefined = md5 === undefined ? storedMark(facts) : { by: 'md5', key: md5 };
  return { name: nameUnlessId(name, fileDataId), fileDataId, index, size, mark };
}

/** The hash of stored bytes says that contents are equal where it is, not that they differ; of encrypted ones it says nothing. */
function storedMark({ sha1, method, encrypted }: SourceEntry['facts']): Mark | undefined {
  // Packers that hash nothing write zeros.
  if (typeof sha1 !== 'string' || /^0*$/.test(sha1) || encrypted !== false) return undefined;
  return { by: 'sha1', key: md5Hex(Buffer.from(`${sha1} ${method}`)) };
}

/** Looks up the sizes that rows of a build lack, in the order of their keys, so that each page of the encoding file is read once. */
export async function fillSizes({ source, table }: DiffSide, rows: readonly number[]): Promise<void> {
  if (!isBuildSource(source)) return;
  const lacking = rows.flatMap((row) => {
    const { size, mark } = row < 0 ? { size: 0, mark: undefined } : table.at(row);
    return size === undefined && mark?.by === 'md5' ? [{ row, key: mark.key }] : [];
  });
  lacking.sort((a, b) => (a.key < b.key ? -1 : 1));
  const { build } = source;
  await build.lookUp(() => {
    for (const { row, key } of lacking) {
      const size = resultUnless(isDamage, () => build.encoding.findCkey(key))?.size;
      if (size !== undefined) table.setSize(row, size);
    }
  });
}
