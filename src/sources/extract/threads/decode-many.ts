import type { EncodedFile } from '../../../builds/encoded-files.ts';
import { Inflater } from '../../../codecs/compression/inflater.ts';
import { digestSize, type Stretch } from '../../../codecs/md5-lanes/index.ts';
import { compareKeys, isKeyAt, u32At } from '../../../core/bytes.ts';
import { isPakratError, resultUnless } from '../../../core/errors.ts';
import { readUpTo } from '../../../files/read-at.ts';
import { decodeChunk } from '../../../formats/blte/chunk.ts';
import { firstRow, headerSizeAt, rowMd5Offset, rowSizeAt } from '../../../formats/blte/chunk-rows.ts';
import { bltePrefixSize } from '../../../formats/blte/header.ts';
import type { KeyRing } from '../../../formats/blte/keys.ts';
import { chunkModes } from '../../../formats/blte/modes.ts';
import type { Workroom } from './workroom.ts';

/** A file, and its content where it was proved; it lies in the workroom. */
interface DecodedFile<Task> {
  task: Task;
  content: Uint8Array | undefined;
}

/** Bytes of the workroom, the digest that they must have, as hex or where it lies in the workroom, and the file that they are of. */
interface Unit extends Stretch {
  digest: string | number;
  file: File;
}

/** A file under way: where its encoded bytes are in the workroom, then its content. */
interface File<Task extends EncodedFile = EncodedFile> {
  task: Task;
  at: number;
  headerSize: number;
  contentAt: number;
  /** It is no plain one, or something of it is wrong. */
  isOdd: boolean;
}

const decodedSizeOffset = 4;
/** Rows with a hash of what comes out as well are rare. */
const usualRowSize = 24;

/**
 * Reads and decodes many files at a time: their hashes are made beside each other, one engine inflates all, and nothing is allocated for any of them but what
 * encryption takes. It is for files that are as most are. Of others it says nothing, whatever the reason: they are done one by one.
 */
export class ManyDecoder {
  readonly #room: Workroom;
  readonly #keys: KeyRing;
  readonly #inflater = new Inflater();

  constructor(room: Workroom, keys: KeyRing) {
    this.#room = room;
    this.#keys = keys;
  }

  /**
   * Gives each file in the order of the tasks, with its content where it could be had; that is there until the next is asked for.
   * @param open an open file by its path
   */
  *decode<Task extends EncodedFile>(
    tasks: readonly Task[],
    open: (file: string) => number,
  ): Generator<DecodedFile<Task>> {
    let group: Task[] = [];
    let bytes = 0;
    for (const task of tasks) {
      const more = roomFor(task);
      if (bytes + more > this.#room.size) {
        yield* this.#decodeGroup(group, open);
        group = [];
        bytes = 0;
      }
      if (more > this.#room.size) yield { task, content: undefined };
      else {
        group.push(task);
        bytes += more;
      }
    }
    yield* this.#decodeGroup(group, open);
  }

  *#decodeGroup<Task extends EncodedFile>(
    tasks: readonly Task[],
    open: (file: string) => number,
  ): Generator<DecodedFile<Task>> {
    const files = tasks.map((task): File<Task> => ({ task, at: 0, headerSize: 0, contentAt: 0, isOdd: false }));
    const units: Unit[] = [];
    let end = this.#room.start;
    for (const file of [...files].sort(byPlace)) {
      file.at = end;
      end += file.task.encodedSize;
      file.isOdd = !this.#read(file, open) || !this.#addUnits(file, units);
    }
    this.#check(units);
    const contents: Unit[] = [];
    for (const file of files) {
      if (file.isOdd) continue;
      file.contentAt = end;
      file.isOdd = !this.#decodeFile(file);
      end += file.task.size;
      const { ckey, size } = file.task;
      if (ckey !== undefined) contents.push({ offset: file.contentAt, size, digest: ckey, file });
    }
    this.#check(contents);
    for (const { task, contentAt, isOdd } of files) {
      const content = isOdd ? undefined : this.#room.bytes.subarray(contentAt, contentAt + task.size);
      yield { task, content };
    }
  }

  #read({ task: { file, offset, encodedSize }, at }: File, open: (file: string) => number): boolean {
    try {
      const bytes = this.#room.bytes.subarray(at, at + encodedSize);
      return readUpTo(open(file), bytes, offset) === encodedSize;
    } catch {
      return false;
    }
  }

  /** Says what must hash to what: the header, or all where there is no table, to the ekey, each chunk to what the header says. */
  #addUnits(file: File, units: Unit[]): boolean {
    const { bytes } = this.#room;
    const { at, task } = file;
    const { encodedSize, size, ekey } = task;
    if (encodedSize <= bltePrefixSize) return false;
    const headerSize = headerSizeAt(bytes, at);
    file.headerSize = headerSize;
    if (headerSize === bltePrefixSize) {
      units.push({ offset: at, size: encodedSize, digest: ekey, file });
      return true;
    }
    if (headerSize < 0 || headerSize > encodedSize) return false;
    if (rowSizeAt(bytes, at, { headerSize, objectSize: encodedSize }) !== usualRowSize) return false;
    units.push({ offset: at, size: headerSize, digest: ekey, file });
    let chunk = at + headerSize;
    let decodedSize = 0;
    for (let row = firstRow(at); row < at + headerSize; row += usualRowSize) {
      const chunkSize = u32At(bytes, row);
      units.push({ offset: chunk, size: chunkSize, digest: row + rowMd5Offset, file });
      chunk += chunkSize;
      decodedSize += u32At(bytes, row + decodedSizeOffset);
    }
    return decodedSize === size;
  }

  #check(units: readonly Unit[]): void {
    const digests = this.#room.digests(units);
    const { bytes } = this.#room;
    for (let i = 0; i < units.length; i++) {
      const { digest, file } = units[i]!;
      const at = i * digestSize;
      const isRight =
        typeof digest === 'string' ? isKeyAt(digests, at, digest) : compareKeys(digests, at, bytes, digest) === 0;
      if (!isRight) file.isOdd = true;
    }
  }

  #decodeFile(file: File): boolean {
    const { at, headerSize, task } = file;
    const { bytes } = this.#room;
    if (headerSize === bltePrefixSize) return this.#decodeOnly(file, at + headerSize, task.encodedSize - headerSize);
    if (headerSize === firstRow(0) + usualRowSize)
      return this.#decodeOnly(file, at + headerSize, u32At(bytes, firstRow(at)));
    let chunk = at + headerSize;
    let to = file.contentAt;
    for (let row = firstRow(at), index = 0; row < at + headerSize; row += usualRowSize, index++) {
      const encodedSize = u32At(bytes, row);
      const size = u32At(bytes, row + decodedSizeOffset);
      if (!this.#decodeChunk({ index, at: chunk, encodedSize, to, size })) return false;
      chunk += encodedSize;
      to += size;
    }
    return true;
  }

  /** The content of a file of one chunk that is not compressed stays where it is. */
  #decodeOnly(file: File, at: number, encodedSize: number): boolean {
    const { size } = file.task;
    if (this.#room.bytes[at] !== chunkModes.plain)
      return this.#decodeChunk({ index: 0, at, encodedSize, to: file.contentAt, size });
    file.contentAt = at + 1;
    return encodedSize === size + 1;
  }

  #decodeChunk(chunk: { index: number; at: number; encodedSize: number; to: number; size: number }): boolean {
    const { index, at, encodedSize, to, size } = chunk;
    const { bytes } = this.#room;
    const body = { at: at + 1, size: encodedSize - 1 };
    if (bytes[at] === chunkModes.zlib) return this.#inflater.inflate(bytes, body, bytes, { at: to, size });
    if (bytes[at] === chunkModes.plain) {
      if (body.size === size) bytes.copyWithin(to, body.at, body.at + body.size);
      return body.size === size;
    }
    const encoded = bytes.subarray(at, at + encodedSize);
    const decoded = resultUnless(isPakratError, () =>
      decodeChunk(encoded, { index, decodedSize: size, keys: this.#keys }),
    );
    if (decoded?.length !== size) return false;
    bytes.set(decoded, to);
    return true;
  }
}

/** The encoded bytes, the content, and a byte behind it for the inflater. */
function roomFor({ encodedSize, size }: EncodedFile): number {
  return encodedSize + size + 1;
}

/** Each file that is read from is opened once, and read from its start to its end. */
function byPlace({ task: a }: File, { task: b }: File): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.offset - b.offset;
}
