import { GrowingFile } from '../../files/growing-file.ts';

/** A manifest that is being written to a temporary file, step by step. Whoever has the file closes it; where the work throws, nothing is left. */
export type Written = Generator<void, GrowingFile>;

/** Rows that are sorted in memory at a time: what encodes files has most of it. */
export const runRows = 1 << 16;

/** Writes a manifest that comes in pieces. @throws as they do, E_STORE_FULL, E_STORE */
export function writePieces(pieces: Iterable<Uint8Array>, temporary: string): Written {
  return writeFile(temporary, function* (file) {
    for (const piece of pieces) {
      file.append(piece);
      yield;
    }
  });
}

/** Lets work write a file. @throws as it does, E_STORE_FULL, E_STORE */
export function* writeFile(temporary: string, work: (file: GrowingFile) => Generator<void, void>): Written {
  const file = new GrowingFile(temporary);
  let isWhole = false;
  try {
    yield* work(file);
    isWhole = true;
    return file;
  } finally {
    if (!isWhole) file.close();
  }
}

/** Appends all of a file to another. */
export function* appendAll(file: GrowingFile, other: GrowingFile): Generator<void> {
  for (const piece of other.pieces()) {
    file.append(piece);
    yield;
  }
}
