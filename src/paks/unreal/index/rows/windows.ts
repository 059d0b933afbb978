import type { FillingSource } from '../../../../files/scratch.ts';
import type { IndexStretch } from './shared-rows.ts';

/** So much of an index is looked at at once, where it is not in memory. */
export const scanBytes = 256 << 10;

/** Some bytes of an index, and the offset of the first in it. */
export interface IndexWindow {
  readonly bytes: Uint8Array;
  readonly start: number;
}

/** The bytes of an index, in memory or in a file. */
export interface IndexWindows {
  /** Bytes of the whole index. */
  readonly size: number;
  /**
   * So many bytes from a place on, those that there are, or more: they stay what they are.
   * @param memory where they may lie until somebody else needs it, in place of memory of their own
   * @throws as the source does
   */
  read(place: number, size: number, memory?: Uint8Array): IndexWindow;
}

/** The bytes of an index. @param source which fills, where they lie in it */
export function windowsOf(index: Uint8Array | IndexStretch, source: FillingSource): IndexWindows {
  if (index instanceof Uint8Array) {
    const all = { bytes: index, start: 0 };
    return { size: index.length, read: () => all };
  }
  const { offset, size } = index;
  return {
    size,
    read(place, wanted, memory) {
      const length = Math.min(wanted, size - place);
      const bytes =
        memory !== undefined && length <= memory.length ? memory.subarray(0, length) : new Uint8Array(length);
      source.readInto?.(bytes, offset + place);
      return { bytes, start: place };
    },
  };
}
