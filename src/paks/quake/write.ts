import { PakratError } from '../../core/errors.ts';
import { ByteWriter } from '../../core/writer.ts';
import {
  contentOf,
  type PackFile,
  type PackResult,
  type PackSink,
  PositionedSink,
  sortForPacking,
} from '../packing.ts';
import { packLayout, type QuakeLayout, quakeHeaderSize } from './directory.ts';

/** The engines read offsets as signed numbers. */
export const maxOffset = 0x7fffffff;
const quakeMaxEntries = 2048;

/**
 * Writes a Quake PAK: header, files in the order of their names, directory. The same files always give the same bytes;
 * no file is held in memory.
 * @throws E_USAGE for names that a PAK cannot have, E_UNSUPPORTED when it would grow past 2 GiB, E_INTEGRITY when a
 *   file is not as long as promised
 */
export async function writeQuakePak(files: Iterable<PackFile>, sink: PackSink): Promise<PackResult> {
  const sorted = sortForPacking(files, (name) => name);
  const directory = new ByteWriter(sorted.length * packLayout.recordSize);
  let offset = quakeHeaderSize;
  for (const file of sorted) {
    if (offset + file.size > maxOffset) throw tooLarge(file);
    directory.raw(nameField(file.name, packLayout)).i32le(offset).i32le(file.size);
    offset += file.size;
  }
  const out = new PositionedSink(sink);
  await out.write(new ByteWriter().text('PACK').i32le(offset).i32le(directory.size).bytes());
  for (const file of sorted) for await (const piece of contentOf(file)) await out.write(piece);
  await out.write(directory.bytes());
  return { files: sorted.length, bytes: out.position, notes: packNotes(sorted) };
}

/** A name as a directory has it. Throws E_USAGE when it is too long. */
export function nameField(name: string, { nameSize }: QuakeLayout): Uint8Array {
  const bytes = new TextEncoder().encode(name);
  if (bytes.length > nameSize) {
    const problem = `${name} is longer than the ${nameSize} bytes that a Quake PAK has for it`;
    throw new PakratError('E_USAGE', problem, { data: { name } });
  }
  return new ByteWriter().raw(bytes).padTo(nameSize).bytes();
}

/** Oddities of what was packed. */
export function packNotes(files: readonly Pick<PackFile, 'name'>[]): string[] {
  const notes: string[] = [];
  if (files.length > quakeMaxEntries)
    notes.push(`Quake loads PAKs of at most ${quakeMaxEntries} entries; this has ${files.length}`);
  const upper = files.find(({ name }) => name !== name.toLowerCase());
  if (upper !== undefined) notes.push(`engines look for lower-case names: ${upper.name} has capitals`);
  const full = files.find(({ name }) => Buffer.byteLength(name) === packLayout.nameSize);
  if (full !== undefined)
    notes.push(`${full.name} fills its field without a closing NUL, which some tools do not expect`);
  return notes;
}

/** The error for a PAK that would be larger than the engines read. */
export function tooLarge(file: Pick<PackFile, 'name'>): PakratError {
  return new PakratError('E_UNSUPPORTED', `a Quake PAK cannot hold more than 2 GiB, and ${file.name} would pass that`, {
    hint: 'Pack into several PAKs: pak0.pak, pak1.pak and so on.',
    data: { name: file.name },
  });
}
