import { join } from 'node:path';
import { breathe } from '../../core/breathe.ts';
import { asBuffer } from '../../core/bytes.ts';
import { nameHash, normalizeName } from '../../core/jenkins.ts';
import { SortedRuns } from '../../files/sorted/sorted-runs.ts';
import { SortedTexts } from '../../files/sorted/sorted-texts.ts';
import { DerivedFile, openDerived, readDerived, removeDerived } from '../../store/derived/derived-file.ts';
import { DerivedWriter, writeDerived } from '../../store/derived/derived-writer.ts';
import { LookupFile, writeLookupFile } from '../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../store/layout.ts';
import type { FilePart, FileVariant, Root } from './root.ts';

/*
 * The names of a root, flattened once, under names/<key of the root>:
 *
 *   .files   a line of JSON for each row, sorted by the bytes of the names: [name, [[ekey or 0, ckey or 0, size or null, encoded size], …], locale flags, other name]
 *            the encoded size is there where the root tells it
 *            the flags and the other name are left out where a row is for all locales and has none
 *   .notes   notes on the names for a reader, a list as JSON
 *   .paths   u64 name hash, u48 offset of the line, u32 its bytes    sorted by hash
 *
 * Notes and paths belong to the lines that were written with them: rows may be others another time.
 */
const pathStride = 18;
/** What a line begins and ends with, and what ends its name. */
const lineStart = '["';
const [lineEnd, quote] = [0x0a, 0x22];
/** Bytes of lines that are read at a time for a listing. */
const pieceSize = 1 << 18;

/** The flags of a row that is for every locale. */
export const allLocales = 0xffffffff;

type PartCells = [ekey: string | 0, ckey: string | 0, size: number | null, encodedSize?: number];

type RowLine = [name: string, parts: PartCells[], localeFlags?: number, otherName?: string];

/** A row of a root that has names. Rows of one name are neighbours. */
export interface NameRow {
  /** With `/` between the parts. */
  name: string;
  parts: FilePart[];
  /** Default all locales. */
  localeFlags?: number | undefined;
  /** Finds the row as well, and is not listed. */
  otherName?: string | undefined;
}

/** Keeps a note on the names for a reader. `forNow`: another time they may be better, so the table is not to be kept. */
export type Note = (text: string, forNow?: 'forNow') => void;

/** The names of a root, and where its look-up files go. */
interface NameTablePlace {
  folders: LookupFolders;
  /** `tvfs`, `text`, … */
  kind: string;
  /** The ckey of the root; the files of the table are called after it. */
  ckey: string;
  /** The rows, one at a time; asked for when the table is not there. */
  rows: (note: Note) => AsyncIterable<NameRow> | Iterable<NameRow>;
}

/** Opens a root that is a list of names; its look-up files are made when they are not there. Needs `close`. */
export async function openNameTable(place: NameTablePlace): Promise<Root> {
  const base = join(place.folders.names, place.ckey);
  let kept = true;
  return openDerived(
    () => new NameTable(place.kind, base, kept),
    async () => {
      kept = await writeTable(place, base);
    },
  );
}

/** @returns whether the table may be kept */
async function writeTable({ folders, rows }: NameTablePlace, base: string): Promise<boolean> {
  const notes: string[] = [];
  let kept = true;
  const note: Note = (text, forNow) => {
    notes.push(text);
    kept &&= forNow === undefined;
  };
  const sorted = new SortedTexts(folders.temporary);
  const paths = new SortedRuns(folders.temporary, { stride: pathStride, keySize: 14 });
  const lines = new DerivedWriter(folders.temporary);
  try {
    for await (const row of rows(note)) {
      sorted.add(row.name, Buffer.from(lineOf(row)));
      await breathe();
    }
    for (const { beside: line } of sorted.rows()) {
      for (const name of namesOf(variantOf(line.toString()))) {
        const record = paths.add();
        record.set(nameHash(comparable(name)));
        record.writeUIntBE(lines.size, 8, 6);
        record.writeUInt32BE(line.length, 14);
      }
      lines.append(line);
      await breathe();
    }
    const of = lines.finish(`${base}.files`);
    writeDerived(`${base}.notes`, Buffer.from(JSON.stringify(notes)), folders.temporary, { of });
    await writeLookupFile(`${base}.paths`, { stride: pathStride, rows: paths.rows(), of }, folders.temporary);
    return kept;
  } finally {
    for (const one of [sorted, paths, lines]) one.close();
  }
}

/** Other readers write `:` where one archive or manifest nests in another; both forms find the file. */
function comparable(name: string): string {
  return normalizeName(name.replaceAll(':', '/'));
}

function lineOf({ name, parts, localeFlags = allLocales, otherName }: NameRow): string {
  const cells = parts.map(({ ekey, ckey, size, encodedSize }): PartCells => {
    const cells: PartCells = [ekey ?? 0, ckey ?? 0, size ?? null];
    if (encodedSize !== undefined) cells.push(encodedSize);
    return cells;
  });
  const line: RowLine = [name, cells];
  if (localeFlags !== allLocales || otherName !== undefined) line.push(localeFlags);
  if (otherName !== undefined) line.push(otherName);
  return `${JSON.stringify(line)}\n`;
}

function variantOf(line: string): NamedVariant {
  const [name, cells, localeFlags = allLocales, otherName] = JSON.parse(line) as RowLine;
  const parts = cells.map(
    ([ekey, ckey, size, encodedSize]): FilePart => ({
      ekey: ekey === 0 ? undefined : ekey,
      ckey: ckey === 0 ? undefined : ckey,
      size: size ?? undefined,
      ...(encodedSize !== undefined && { encodedSize }),
    }),
  );
  return { name, localeFlags, contentFlags: 0, parts, ...(otherName !== undefined && { otherName }) };
}

type NamedVariant = FileVariant & { name: string; otherName?: string };

class NameTable implements Root {
  readonly kind: string;
  readonly notes: readonly string[];
  readonly #lines: DerivedFile;
  readonly #paths: LookupFile;
  /** To be removed when it is closed. */
  readonly #passing: string | undefined;

  constructor(kind: string, base: string, kept: boolean) {
    this.kind = kind;
    this.#lines = new DerivedFile(`${base}.files`);
    try {
      const of = this.#lines.mark;
      this.notes = JSON.parse(asBuffer(readDerived(`${base}.notes`, { of })).toString()) as string[];
      this.#paths = new LookupFile(`${base}.paths`, { stride: pathStride, of });
    } catch (error) {
      this.#lines.close();
      throw error;
    }
    this.#passing = kept ? undefined : `${base}.paths`;
  }

  close(): void {
    this.#lines.close();
    this.#paths.close();
    if (this.#passing !== undefined) removeDerived(this.#passing);
  }

  async checkAll(): Promise<void> {
    for (const file of [this.#lines, this.#paths]) for (const _ of file.checkAll()) await breathe();
  }

  /** Of names that differ by their case only, the one that is spelt as asked. */
  find(name: string): FileVariant[] {
    const wanted = comparable(name);
    const found = [...this.#paths.find(nameHash(wanted))]
      .map((record) => this.#variant(record))
      .filter((variant) => namesOf(variant).some((known) => comparable(known) === wanted));
    const exact = found.filter((variant) => namesOf(variant).includes(name.replaceAll('\\', '/')));
    return exact.length > 0 ? exact : found;
  }

  #variant(record: Uint8Array): NamedVariant {
    const view = asBuffer(record);
    const line = this.#lines.read(view.readUIntBE(8, 6), view.readUInt32BE(14));
    return variantOf(asBuffer(line).toString('utf8'));
  }

  findId(): FileVariant[] {
    return [];
  }

  *list(matches: (name: string) => boolean): Generator<FileVariant> {
    for (const { lines, end: last } of this.#wholeLines()) {
      let at = 0;
      for (let end = lines.indexOf(lineEnd); at < last; end = lines.indexOf(lineEnd, at)) {
        // Of millions most are not wanted: a name that stands as it is tells so without the rest of its line.
        const plain = plainName(lines, at);
        if (plain === undefined || matches(plain)) {
          const variant = variantOf(lines.toString('utf8', at, end));
          if (plain !== undefined || matches(variant.name)) yield variant;
        }
        at = end + 1;
      }
    }
  }

  /** All lines, many at a time and each of them whole, up to an end; they are there until the next are asked for. */
  *#wholeLines(): Generator<{ lines: Buffer; end: number }> {
    const { size } = this.#lines;
    let memory = Buffer.allocUnsafe(Math.min(2 * pieceSize, size));
    let filled = 0;
    for (let offset = 0; offset < size; offset += pieceSize) {
      const more = Math.min(pieceSize, size - offset);
      if (filled + more > memory.length) memory = Buffer.concat([memory], filled + more);
      this.#lines.readInto(memory.subarray(filled, filled + more), offset);
      filled += more;
      const end = memory.subarray(0, filled).lastIndexOf(lineEnd) + 1;
      if (end > 0) yield { lines: memory, end };
      memory.copyWithin(0, end, filled);
      filled -= end;
    }
  }
}

/** The name with which a line begins; undefined for one that has something in it which JSON escapes. */
function plainName(lines: Buffer, at: number): string | undefined {
  const start = at + lineStart.length;
  const name = lines.toString('utf8', start, lines.indexOf(quote, start));
  return name.includes('\\') ? undefined : name;
}

function namesOf({ name, otherName }: { name: string; otherName?: string | undefined }): string[] {
  return otherName === undefined ? [name] : [name, otherName];
}
