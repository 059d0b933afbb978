import type { Build } from '../../../builds/build.ts';
import { breathe } from '../../../core/breathe.ts';
import { fold } from '../../../core/glob.ts';
import { normalizeName } from '../../../core/jenkins.ts';
import { compareNames } from '../../../core/names/name-order.ts';
import { makeFolderDurable } from '../../../files/durable.ts';
import { isBuildSource } from '../../../sources/build-source.ts';
import { type NameFile, NameIndex } from '../../../sources/names/name-index.ts';
import { NamesWriter } from '../../../sources/names/names-writer.ts';
import type { Source } from '../../../sources/source.ts';

/** Names that a root gives before the event loop turns. */
const namesAtOnce = 4096;

/** Writes the names of a source into a temporary file, sorted, each with its folded name, as names are compared, and opens it. @throws as listing the source does, E_STORE… */
export async function writeNames(source: Source, temporary: string): Promise<NameIndex> {
  return new NameIndex(await writeNameFile(source, temporary));
}

/** As {@link writeNames}, for another thread to open: the file stays. */
export async function writeNameFile(source: Source, temporary: string): Promise<NameFile> {
  makeFolderDurable(temporary);
  const writer = new NamesWriter(temporary);
  try {
    if (isBuildSource(source)) await addBuild(writer, source.build);
    else await addListed(writer, source);
    return writer.finish();
  } catch (error) {
    writer.discard();
    throw error;
  }
}

/** The names of the root, and those of the install manifest that it lacks. Nothing is looked up for them. */
async function addBuild(writer: NamesWriter, build: Build): Promise<void> {
  const root = await build.wholeRoot();
  const known = new Map(
    ((await build.install())?.entries ?? []).map(({ path }) => [normalizeName(path), path.replaceAll('\\', '/')]),
  );
  const others = [...known.values()].filter((name) => root.find(name).length === 0).sort(compareNames);
  let asked = 0;
  let other = 0;
  const add = (name: string): boolean => {
    for (let next = others[other]; next !== undefined && compareNames(next, name) < 0; next = others[++other])
      writer.add(next, { other: fold(next) });
    writer.add(name, { other: fold(name) });
    asked += 1;
    // A name that is taken comes out of the list: the one place where it can be left for a moment.
    return asked % namesAtOnce === 0;
  };
  for (const _ of root.list(add)) await breathe();
  for (const name of others.slice(other)) writer.add(name, { other: fold(name) });
}

/** What has no order of names holds all of its rows in memory anyway. */
async function addListed(writer: NamesWriter, source: Source): Promise<void> {
  const rows: { name: string; index: number | undefined }[] = [];
  for await (const { name, index } of source.list(() => true)) {
    rows.push({ name, index });
    await breathe();
  }
  rows.sort((a, b) => compareNames(a.name, b.name));
  for (const { name, index } of rows) {
    writer.add(name, { other: fold(name), index });
    await breathe();
  }
}
