import * as fs from 'node:fs';
import type { Build } from '../../../builds/build.ts';
import { breathe } from '../../../core/breathe.ts';
import { fold } from '../../../core/glob.ts';
import { normalizeName } from '../../../core/jenkins.ts';
import { compareNames } from '../../../core/names/name-order.ts';
import { makeFolderDurable, writeAll } from '../../../files/durable.ts';
import { removeTemporary, temporaryName } from '../../../files/temporary.ts';
import { isBuildSource } from '../../../sources/build-source.ts';
import type { Source } from '../../../sources/source.ts';
import { fieldEnd, lineEnd, markEvery, type NameFile, NameIndex, type NameMark, windowSize } from './name-index.ts';

/** Names that a root gives before the event loop turns. */
const namesAtOnce = 4096;

/** Writes the names of a source into a temporary file, sorted, and opens it. @throws as listing the source does, E_STORE… */
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
      writer.add(next);
    writer.add(name);
    asked += 1;
    // A name that is taken comes out of the list: the one place where it can be left for a moment.
    return asked % namesAtOnce === 0;
  };
  for (const _ of root.list(add)) await breathe();
  for (const name of others.slice(other)) writer.add(name);
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
    writer.add(name, index);
    await breathe();
  }
}

class NamesWriter {
  readonly #path: string;
  readonly #fd: number;
  readonly #marks: NameMark[] = [];
  readonly #memory = Buffer.allocUnsafe(windowSize);
  #used = 0;
  #written = 0;
  #count = 0;
  #last: string | undefined;
  #sortedEnd: number | undefined;

  constructor(folder: string) {
    this.#path = temporaryName(folder);
    this.#fd = fs.openSync(this.#path, 'wx+', 0o600);
  }

  /** Adds a name that is not before the last; from the first that is, they are not in order. One that comes again is the same file. */
  add(name: string, index?: number): void {
    if (name === this.#last && index === undefined) return;
    const at = this.#written + this.#used;
    if (this.#last !== undefined && this.#sortedEnd === undefined && compareNames(name, this.#last) < 0)
      this.#sortedEnd = at;
    this.#last = name;
    this.#count += 1;
    const folded = fold(name);
    const isOther = folded !== name || index !== undefined;
    const most = 3 * (name.length + folded.length) + 16;
    if (this.#used + most > this.#memory.length) this.#flush();
    // Longer than all of the memory: it is cut, and found by its beginning.
    if (most > this.#memory.length) return;
    const start = this.#used;
    this.#put(name);
    const mark = this.#marks.at(-1);
    if (this.#sortedEnd === undefined && (mark === undefined || at - mark.at >= markEvery))
      this.#marks.push({ at, name: Buffer.from(this.#memory.subarray(start, this.#used)) });
    if (isOther) {
      this.#memory[this.#used++] = fieldEnd;
      this.#put(folded);
    }
    if (index !== undefined) {
      this.#memory[this.#used++] = fieldEnd;
      this.#put(String(index));
    }
    this.#memory[this.#used++] = lineEnd;
  }

  #put(text: string): void {
    this.#used += this.#memory.write(text, this.#used, 'utf8');
  }

  #flush(): void {
    writeAll(this.#fd, this.#memory.subarray(0, this.#used), this.#written);
    this.#written += this.#used;
    this.#used = 0;
  }

  finish(): NameFile {
    this.#flush();
    const size = this.#written;
    return {
      path: this.#path,
      fd: this.#fd,
      size,
      count: this.#count,
      sortedEnd: this.#sortedEnd ?? size,
      marks: this.#marks,
    };
  }

  discard(): void {
    fs.closeSync(this.#fd);
    removeTemporary(this.#path);
  }
}
