import { PakratError } from './errors.ts';

/** Bytes that can be read in any order: a file, memory, a part of another source. */
export interface ByteSource {
  /** Its name for messages: a path, mostly. */
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  /** Exactly `size` bytes from `offset`. Throws E_FORMAT_TRUNCATED when they are not there. */
  read(offset: number, size: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A source over bytes in memory; reads are views of them. */
export function bytesSource(bytes: Uint8Array, name = 'memory'): ByteSource {
  return {
    name,
    size: bytes.length,
    async read(offset, size) {
      checkRange(this, offset, size);
      return bytes.subarray(offset, offset + size);
    },
    async close() {},
  };
}

/** Throws E_FORMAT_TRUNCATED when `size` bytes at `offset` are not inside the source. */
export function checkRange(source: Pick<ByteSource, 'name' | 'size'>, offset: number, size: number): void {
  if (!(offset >= 0 && size >= 0 && offset + size <= source.size)) {
    const problem = `${source.name}: ${size} bytes at offset ${offset} are outside its ${source.size} bytes`;
    throw new PakratError('E_FORMAT_TRUNCATED', problem, { data: { offset, size, held: source.size } });
  }
}
