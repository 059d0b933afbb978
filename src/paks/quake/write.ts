import { breathe } from '../../core/breathe.ts';
import { PakratError } from '../../core/errors.ts';
import { ByteWriter } from '../../core/writer.ts';
import { contentOf, type PackFile, type PackResult, type PackSink, PositionedSink } from '../packing.ts';
import { rowsPerTurn, sortForPacking } from '../sorted-files.ts';
import { packLayout, type QuakeLayout, quakeHeaderSize } from './directory.ts';

/** The engines read offsets as signed numbers. */
export const maxOffset = 0x7fffffff;
const quakeMaxEntries = 2048;

/**
 * Writes a Quake PAK: header, files in the order of their names, directory. The same files always give the same bytes;
 * no file is held in memory, and no more than 8 bytes for each.
 * @throws E_USAGE for names that a PAK cannot have, E_UNSUPPORTED when it would grow past 2 GiB, E_INTEGRITY when a
 *   file is not as long as promised, E_ABORTED
 */
export async function writeQuakePak(
  files: Iterable<PackFile>,
  sink: PackSink,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<PackResult> {
  const sorted = await sortForPacking(files, (name) => name, signal);
  const notes = new QuakeNotes();
  let end = quakeHeaderSize;
  let row = 0;
  for (const file of sorted) {
    if (row++ % rowsPerTurn === 0) await breathe(signal);
    if (end + file.size > maxOffset) throw tooLarge(file);
    checkSize(file.name, packLayout);
    notes.add(file);
    end += file.size;
  }
  const out = new PositionedSink(sink);
  await out.write(
    new ByteWriter()
      .text('PACK')
      .i32le(end)
      .i32le(sorted.count * packLayout.recordSize)
      .bytes(),
  );
  for (const file of sorted) for await (const piece of contentOf(file)) await out.write(piece);
  await writeDirectory(sorted, out, signal);
  return { files: sorted.count, bytes: out.position, notes: notes.all() };
}

/** The directory may be larger than memory should hold: it is written as it is made. */
async function writeDirectory(files: Iterable<PackFile>, out: PositionedSink, signal?: AbortSignal): Promise<void> {
  const writer = new ByteWriter(rowsPerTurn * packLayout.recordSize);
  let offset = quakeHeaderSize;
  for (const { name, size } of files) {
    writer.raw(nameField(name, packLayout)).i32le(offset).i32le(size);
    offset += size;
    if (writer.size < rowsPerTurn * packLayout.recordSize) continue;
    await out.write(writer.bytes());
    writer.clear();
    await breathe(signal);
  }
  await out.write(writer.bytes());
}

/** A name as a directory has it. Throws E_USAGE when it is too long. */
export function nameField(name: string, layout: QuakeLayout): Uint8Array {
  checkSize(name, layout);
  const field = Buffer.alloc(layout.nameSize);
  field.write(name);
  return field;
}

function checkSize(name: string, { nameSize }: QuakeLayout): void {
  if (Buffer.byteLength(name) <= nameSize) return;
  const problem = `${name} is longer than the ${nameSize} bytes that a Quake PAK has for it`;
  throw new PakratError('E_USAGE', problem, { data: { name } });
}

/** Oddities of what was packed. */
export function packNotes(files: Iterable<Pick<PackFile, 'name'>>): string[] {
  const notes = new QuakeNotes();
  for (const file of files) notes.add(file);
  return notes.all();
}

/** Oddities of what is packed, a file at a time. */
class QuakeNotes {
  #count = 0;
  #upper: string | undefined;
  #full: string | undefined;

  add({ name }: Pick<PackFile, 'name'>): void {
    this.#count += 1;
    if (this.#upper === undefined && name !== name.toLowerCase()) this.#upper = name;
    if (this.#full === undefined && Buffer.byteLength(name) === packLayout.nameSize) this.#full = name;
  }

  all(): string[] {
    const notes: string[] = [];
    if (this.#count > quakeMaxEntries)
      notes.push(`Quake loads PAKs of at most ${quakeMaxEntries} entries; this has ${this.#count}`);
    if (this.#upper !== undefined) notes.push(`engines look for lower-case names: ${this.#upper} has capitals`);
    if (this.#full !== undefined)
      notes.push(`${this.#full} fills its field without a closing NUL, which some tools do not expect`);
    return notes;
  }
}

/** The error for a PAK that would be larger than the engines read. */
export function tooLarge(file: Pick<PackFile, 'name'>): PakratError {
  return new PakratError('E_UNSUPPORTED', `a Quake PAK cannot hold more than 2 GiB, and ${file.name} would pass that`, {
    hint: 'Pack into several PAKs: pak0.pak, pak1.pak and so on.',
    data: { name: file.name },
  });
}
