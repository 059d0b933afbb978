import { u32At, uintAt } from '../../core/bytes.ts';
import { ByteWriter } from '../../core/writer.ts';
import { GrowingFile } from '../../files/growing-file.ts';
import { SortedRuns } from '../../files/sorted/sorted-runs.ts';
import { type EncodingParts, encodeSortedEncoding } from '../../formats/manifests/encoding/encode.ts';
import { encodingHeaderSize } from '../../formats/manifests/encoding/pages.ts';
import type { Contents } from '../objects/contents.ts';
import { appendAll, runRows, type Written, writeFile } from './written.ts';

/** Readers are known that lose entries when the first page of an encoding file starts before this offset; real ones start far behind it. */
const leastPageOffset = 4096;
const filler = `b:{${'64K=n,'.repeat(300)}*=z}`;

const keySize = 16;
const sizeBytes = 6;
/** A ckey and the number of a content that has it; then its size and its ekey. */
const ckeyRow = { keySize: keySize + 4, stride: keySize + 4 + sizeBytes + keySize, runRows };
/** An ekey; then the number of its espec and its encoded size. */
const ekeyRow = { keySize, stride: keySize + 4 + sizeBytes, runRows };

/** What an encoding file is made of, sorted on disk. */
interface Sorted {
  ckeys: SortedRuns;
  ekeys: SortedRuns;
  especs: readonly string[];
}

/** Writes the encoding file of all contents. @throws E_STORE_FULL, E_STORE */
export function writeEncoding(contents: Contents, temporary: string): Written {
  return writeFile(temporary, function* (file) {
    const [ckeys, ekeys] = [new SortedRuns(temporary, ckeyRow), new SortedRuns(temporary, ekeyRow)];
    const pages = { ckeys: new GrowingFile(temporary), ekeys: new GrowingFile(temporary) };
    try {
      const especs = especsOf(contents);
      yield* sort(contents, { ckeys, ekeys, especs });
      const parts = yield* encode({ ckeys, ekeys, especs }, pages);
      yield* assemble(file, parts, pages);
    } finally {
      for (const one of [ckeys, ekeys, pages.ckeys, pages.ekeys]) one.close();
    }
  });
}

function especsOf({ especs: found }: Contents): string[] {
  const especs = [...found].sort();
  let offset = encodingHeaderSize + especs.reduce((sum, espec) => sum + espec.length + 1, 0);
  for (; offset < leastPageOffset; offset += filler.length + 1) especs.push(filler);
  return especs;
}

function* sort(contents: Contents, { ckeys, ekeys, especs }: Sorted): Generator<void> {
  const indexOf = new Map(especs.map((espec, i) => [espec, i]));
  let number = 0;
  for (const { ckey, ekey, size, encodedSize, espec } of contents) {
    ckeys.add().set(new ByteWriter(ckeyRow.stride).raw(ckey).u32(number).uint(size, sizeBytes).raw(ekey).written);
    const row = new ByteWriter(ekeyRow.stride).raw(ekey).u32(indexOf.get(espec) ?? 0);
    ekeys.add().set(row.uint(encodedSize, sizeBytes).written);
    number += 1;
    yield;
  }
}

function encode(
  { ckeys, ekeys, especs }: Sorted,
  pages: { ckeys: GrowingFile; ekeys: GrowingFile },
): Generator<void, EncodingParts> {
  return encodeSortedEncoding(
    { ckeys: ckeyEntries(ckeys), ekeys: ekeyEntries(ekeys), especs },
    { ckeys: (page) => pages.ckeys.append(page), ekeys: (page) => pages.ekeys.append(page) },
  );
}

/** The contents of each ckey, which may have several encodings. */
function* ckeyEntries(rows: SortedRuns): Generator<{ ckey: Uint8Array; size: number; ekeys: Uint8Array[] }> {
  let entry: { ckey: Uint8Array; size: number; ekeys: Uint8Array[] } | undefined;
  for (const row of rows.rows()) {
    const [ckey, ekey] = [row.subarray(0, keySize), row.subarray(ckeyRow.stride - keySize)];
    if (entry !== undefined && Buffer.compare(entry.ckey, ckey) === 0) entry.ekeys.push(ekey);
    else {
      if (entry !== undefined) yield entry;
      entry = { ckey, size: uintAt(row, ckeyRow.keySize, sizeBytes), ekeys: [ekey] };
    }
  }
  if (entry !== undefined) yield entry;
}

function* ekeyEntries(rows: SortedRuns): Generator<{ ekey: Uint8Array; especIndex: number; size: number }> {
  for (const row of rows.rows()) {
    const [especIndex, size] = [u32At(row, keySize), uintAt(row, keySize + 4, sizeBytes)];
    yield { ekey: row.subarray(0, keySize), especIndex, size };
  }
}

function* assemble(
  file: GrowingFile,
  { head, ekeyTable, ownEspec }: EncodingParts,
  pages: { ckeys: GrowingFile; ekeys: GrowingFile },
): Generator<void> {
  file.append(head);
  yield* appendAll(file, pages.ckeys);
  file.append(ekeyTable);
  yield* appendAll(file, pages.ekeys);
  file.append(ownEspec);
}
