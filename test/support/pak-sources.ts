import { createHash } from 'node:crypto';
import { type ByteSource, bytesSource, checkRange } from '../../src/core/byte-source.ts';
import type { PackFile, PackSink } from '../../src/paks/packing.ts';
import type { Pak, PakEntry } from '../../src/paks/pak.ts';

/** A source that knows what was read of it. */
export interface CountingSource extends ByteSource {
  reads: number;
  bytes: number;
  reset(): void;
}

/** Counts what is read of some bytes; asking for a byte outside of them fails the test that does it. */
export function countingSource(bytes: Uint8Array, name = 'counted'): CountingSource {
  const inner = bytesSource(bytes, name);
  return {
    name,
    size: bytes.length,
    reads: 0,
    bytes: 0,
    read(offset, size) {
      if (!(Number.isSafeInteger(offset) && offset >= 0 && size >= 0 && offset + size <= bytes.length)) {
        this.bytes = Number.NaN;
      }
      this.reads += 1;
      this.bytes += size;
      return inner.read(offset, size);
    },
    close: () => inner.close(),
    reset() {
      this.reads = 0;
      this.bytes = 0;
    },
  };
}

/** A source of any size that holds some parts, and zeros between them. */
export function sparseSource(size: number, parts: readonly { offset: number; bytes: Uint8Array }[]): ByteSource {
  return {
    name: 'sparse',
    size,
    async read(offset, length) {
      checkRange(this, offset, length);
      const result = new Uint8Array(length);
      for (const part of parts) {
        const from = Math.max(part.offset, offset);
        const to = Math.min(part.offset + part.bytes.length, offset + length);
        if (from < to) result.set(part.bytes.subarray(from - part.offset, to - part.offset), from - offset);
      }
      return result;
    },
    async close() {},
  };
}

/** All of what comes in pieces. */
export async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece.slice());
  return new Uint8Array(Buffer.concat(parts));
}

/** SHA-256 of an entry's content, in hex. */
export async function contentHash(pak: Pak, entry: PakEntry): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of pak.read(entry)) hash.update(piece);
  return hash.digest('hex');
}

/** A file to pack. `pieceSize` is how it is handed out. */
export function packFile(
  name: string,
  content: Uint8Array | string,
  options: { mtime?: Date; pieceSize?: number } = {},
): PackFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const step = options.pieceSize ?? 10_000;
  return {
    name,
    size: bytes.length,
    mtime: options.mtime,
    async *open() {
      for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
    },
  };
}

/** A sink in memory. */
export function memorySink(): PackSink & { bytes(): Uint8Array } {
  const parts: Uint8Array[] = [];
  return {
    async write(bytes) {
      parts.push(bytes.slice());
    },
    bytes: () => new Uint8Array(Buffer.concat(parts)),
  };
}

/** What a writer writes. */
export async function packed(write: (sink: PackSink) => Promise<unknown>): Promise<Uint8Array> {
  const sink = memorySink();
  await write(sink);
  return sink.bytes();
}
