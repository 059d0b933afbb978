import { breathe } from '../core/breathe.ts';
import type { ByteSource } from '../core/byte-source.ts';
import { PakratError } from '../core/errors.ts';
import { readPieces } from '../files/pieces.ts';

/** A file that goes into a PAK. */
export interface PackFile {
  /** Relative, with `/` between the parts. */
  readonly name: string;
  readonly size: number;
  readonly mtime?: Date | undefined;
  /** The content from its start. May be asked for more than once: some formats need a hash before the bytes. */
  open(): AsyncIterable<Uint8Array>;
}

/** The same file with other facts. To spread it would leave out what its class gives it. */
export function packFileWith<Facts extends Partial<PackFile>>(file: PackFile, facts: Facts): PackFile & Facts {
  const { name, size, mtime } = file;
  return { ...file, name, size, mtime, open: () => file.open(), ...facts };
}

/** Takes a PAK from its first byte to its last. */
export interface PackSink {
  write(bytes: Uint8Array): Promise<void>;
}

/** A row of a PAK that is made out of an older one: its `old` row as it is stored, a new `file`, or that in the place of the old row. */
export interface RewriteRow {
  /** Number of a row of the older PAK. With a file, the row has its place, name, flags and ids, and the content of the file. */
  readonly old?: number | undefined;
  readonly file?: PackFile | undefined;
}

/** Options of making a PAK out of an older one. */
export interface RewriteOptions {
  /** As `exact` of packing. */
  exact?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the stored bytes of each row that was taken over. */
  onKept?: ((bytes: number) => void) | undefined;
}

/** Counts of a PAK that was written. */
export interface PackResult {
  files: number;
  /** Size of the PAK. */
  bytes: number;
  /** Oddities that are no errors. */
  notes: string[];
}

/** A sink that counts the bytes it took. */
export class PositionedSink {
  readonly #sink: PackSink;
  /** Offset of the next byte in the PAK. */
  position = 0;

  constructor(sink: PackSink) {
    this.#sink = sink;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#sink.write(bytes);
    this.position += bytes.length;
  }
}

/**
 * The numbers of rows in the order in which their data is written: where the older PAK has it, then what is new.
 * @param offsetOf an old row
 */
export function dataOrder(rows: readonly RewriteRow[], offsetOf: (old: number) => number): number[] {
  const offsets = rows.map(({ old }) => (old === undefined ? Number.POSITIVE_INFINITY : offsetOf(old)));
  return rows.map((_, i) => i).sort((a, b) => Math.sign((offsets[a] ?? 0) - (offsets[b] ?? 0) || 0) || a - b);
}

/** Writes bytes of an older PAK as they are. @throws E_ABORTED, and as the source does */
export async function copyStored(
  out: PositionedSink,
  source: ByteSource,
  { offset, size, signal }: { offset: number; size: number; signal?: AbortSignal | undefined },
): Promise<void> {
  for await (const piece of readPieces(source, offset, size)) {
    await out.write(piece);
    await breathe(signal);
  }
}

/** The error for an entry that cannot be taken over into a new PAK. */
export function notKept(name: string, problem: string): PakratError {
  return new PakratError('E_FORMAT_RANGE', `${name} cannot be taken over: ${problem}`, {
    hint: 'Give other content for it with --replace, by its name or by index:N, or leave it out.',
    data: { name },
  });
}

/** The content of a file, checked against the size that was promised. Throws E_INTEGRITY when it differs. */
export async function* contentOf(file: PackFile): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of file.open()) {
    size += piece.length;
    if (size > file.size) break;
    yield piece;
  }
  if (size !== file.size) throw changedWhilePacking(file);
}

/** The error for a file that is not the same when it is read again. */
export function changedWhilePacking(file: PackFile): PakratError {
  return new PakratError('E_INTEGRITY', `${file.name} changed while it was packed`, {
    hint: 'Pack again when nothing writes to it.',
    data: { name: file.name },
  });
}
