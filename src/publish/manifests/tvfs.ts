import { u32At, uintAt, writeU32 } from '../../core/bytes.ts';
import { codeOf } from '../../core/errors.ts';
import { giveBack, largeWords } from '../../core/tables/large-bytes.ts';
import { ByteWriter } from '../../core/writer.ts';
import { GrowingFile } from '../../files/growing-file.ts';
import { SortedRuns } from '../../files/sorted/sorted-runs.ts';
import { type SortedText, SortedTexts } from '../../files/sorted/sorted-texts.ts';
import { tvfsHeaderSize } from '../../formats/roots/tvfs/encode.ts';
import { TvfsObjectRows } from '../../formats/roots/tvfs/object-rows.ts';
import { PrefixTable } from '../../formats/roots/tvfs/path-tree.ts';
import { comesTwice } from '../files/publish-file.ts';
import type { Contents } from '../objects/contents.ts';
import type { EncodedFiles } from '../objects/encoded-files.ts';
import { appendAll, runRows, type Written, writeFile } from './written.ts';

/** What lies beside a path: the size of its file, and the number of its content. */
const sizeBytes = 6;
const besideSize = sizeBytes + 4;

/**
 * Writes a TVFS as official ones are, with specs and content keys: a path leads to the one object that it is. Paths and containers are sorted on disk; of each file
 * there are two bytes in memory, and of each content four.
 * @throws E_USAGE for a path that comes twice, E_STORE_FULL, E_STORE
 */
export function writeTvfs(files: EncodedFiles, temporary: string): Written {
  return writeFile(temporary, function* (file) {
    const { contents } = files;
    const [paths, vfs] = [new SortedTexts(temporary), new GrowingFile(temporary)];
    let containers: SortedRuns | undefined;
    try {
      yield* sortPaths(files, paths);
      file.append(new Uint8Array(tvfsHeaderSize));
      const table = new PrefixTable(file, files.length);
      const rows = new TvfsObjectRows(yield* lookAtAll(paths, table, contents), contents.length);
      const keySize = rows.containerSize;
      containers = new SortedRuns(temporary, { stride: keySize + 4, keySize, runRows });
      const places = yield* sortContainers(contents, containers, rows);
      for (const { text, beside } of paths.rows()) {
        table.add(text, vfs.size);
        vfs.append(rows.vfsRow(places[numberIn(beside)]!, uintAt(beside, 0, sizeBytes)));
        yield;
      }
      giveBack(places);
      const maxDepth = table.finish();
      const header = rows.header({ size: file.size - tvfsHeaderSize, maxDepth }, files.length);
      file.append(rows.especs);
      for (const row of containers.rows()) {
        file.append(row.subarray(0, rows.containerSize));
        yield;
      }
      yield* appendAll(file, vfs);
      file.write(header, 0);
    } finally {
      for (const one of [paths, vfs, containers]) one?.close();
    }
  });
}

function numberIn(beside: Uint8Array): number {
  return u32At(beside, sizeBytes);
}

function* sortPaths(files: EncodedFiles, paths: SortedTexts): Generator<void> {
  for (const { name, size, content } of files) {
    paths.add(name, new ByteWriter(besideSize).uint(size, sizeBytes).u32(content).written);
    yield;
  }
}

/** @returns the specs of the contents, in the order of the paths */
function* lookAtAll(paths: SortedTexts, table: PrefixTable, contents: Contents): Generator<void, Set<string>> {
  const especs = new Set<string>();
  for (const { text, beside } of paths.rows()) {
    look(table, text);
    if (especs.size < contents.especs.length) especs.add(contents.at(numberIn(beside))!.espec);
    yield;
  }
  return especs;
}

function look(table: PrefixTable, text: SortedText['text']): void {
  try {
    table.look(text);
  } catch (error) {
    throw codeOf(error) === 'E_FORMAT_RANGE' ? comesTwice(text.toString()) : error;
  }
}

/** @returns how many containers come before that of each content */
function* sortContainers(
  contents: Contents,
  containers: SortedRuns,
  rows: TvfsObjectRows,
): Generator<void, Uint32Array> {
  let number = 0;
  for (const content of contents) {
    const row = containers.add();
    row.set(rows.container(content));
    writeU32(row, rows.containerSize, number);
    number += 1;
    yield;
  }
  const places = largeWords(number);
  let place = 0;
  for (const row of containers.rows()) {
    places[u32At(row, rows.containerSize)] = place;
    place += 1;
    yield;
  }
  return places;
}
