// The rows of a manifest in which every path leads to one whole object, as a build of files has them. All of a kind are of one size, so where one lies follows
// from its number, and whoever has millions need not have them in memory.

import { ByteWriter } from '../../../core/writer.ts';
import { encodeTvfsHeader, tvfsHeaderSize } from './encode.ts';
import { TvfsFlags } from './layout.ts';
import { offsetWidth } from './limits.ts';

const ekeySize = 9;
const flags = TvfsFlags.ckeys | TvfsFlags.especs | TvfsFlags.patches;

/** An object, and what it is decoded. Sizes are bytes. */
export interface TvfsObject {
  /** Its key, of which the first 9 bytes are kept. */
  ekey: Uint8Array;
  ckey: Uint8Array;
  size: number;
  encodedSize: number;
  espec: string;
}

/**
 * Encodes the rows of a manifest of objects. Its tables stand one behind the other: paths (behind room for the header), especs, containers in the order of their
 * bytes, and the VFS table in the order of the paths: what `encodeTvfs` writes in the form `prefixes`.
 */
export class TvfsObjectRows {
  /** The espec table. */
  readonly especs: Uint8Array;
  /** Bytes of an entry of the container table, and of a row of the VFS table. */
  readonly containerSize: number;
  readonly vfsRowSize: number;
  readonly #containers: number;
  readonly #especAt = new Map<string, number>();
  readonly #especWidth: number;
  readonly #placeWidth: number;

  /** @param especs each once, in their order in the table @param containers number of objects */
  constructor(especs: Iterable<string>, containers: number) {
    const writer = new ByteWriter();
    for (const espec of especs) {
      this.#especAt.set(espec, writer.size);
      writer.cstring(espec);
    }
    this.especs = writer.written;
    this.#especWidth = offsetWidth(writer.size);
    this.containerSize = ekeySize + 4 + this.#especWidth + 4 + 16 + 1;
    this.#containers = containers;
    this.#placeWidth = offsetWidth(containers * this.containerSize);
    this.vfsRowSize = 1 + 8 + this.#placeWidth;
  }

  /** The entry of an object in the container table. */
  container({ ekey, ckey, size, encodedSize, espec }: TvfsObject): Uint8Array {
    const writer = new ByteWriter(this.containerSize).raw(ekey.subarray(0, ekeySize)).u32(encodedSize);
    return writer
      .uint(this.#especAt.get(espec) ?? 0, this.#especWidth)
      .u32(size)
      .raw(ckey)
      .u8(0).written;
  }

  /** The row of a file in the VFS table. @param container how many entries come before that of its object @param size of the file */
  vfsRow(container: number, size: number): Uint8Array {
    const writer = new ByteWriter(this.vfsRowSize).u8(1).u32(0).u32(size);
    return writer.uint(container * this.containerSize, this.#placeWidth).written;
  }

  /** The header, over the room that was left for it. @param paths bytes of the path table, and greatest depth of its folders @param files number of rows of the VFS table */
  header(paths: { size: number; maxDepth: number }, files: number): Uint8Array {
    const pathTable = { offset: tvfsHeaderSize, size: paths.size };
    const especTable = { offset: pathTable.offset + pathTable.size, size: this.especs.length };
    const containerTable = {
      offset: especTable.offset + especTable.size,
      size: this.#containers * this.containerSize,
    };
    const vfsTable = { offset: containerTable.offset + containerTable.size, size: files * this.vfsRowSize };
    const { maxDepth } = paths;
    const tables = { pathTable, especTable, containerTable, vfsTable };
    return encodeTvfsHeader({ ekeySize, patchKeySize: ekeySize, flags, maxDepth, ...tables });
  }
}
