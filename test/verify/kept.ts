import type { Spool, VerifiedSink } from '../../src/verify/hash-buffer.ts';

/** A sink that keeps what it is given, and what waits in its spools. */
export class Kept implements VerifiedSink {
  readonly bytes: Uint8Array;
  readonly writes: { start: number; end: number }[] = [];
  readonly spools: { size: number; closed: boolean }[] = [];

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }
  write(offset: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, offset);
    this.writes.push({ start: offset, end: offset + bytes.length });
  }
  spool(): Spool {
    const pieces: Uint8Array[] = [];
    const note = { size: 0, closed: false };
    this.spools.push(note);
    return {
      append(piece) {
        pieces.push(piece.slice());
        note.size += piece.length;
      },
      replay(take) {
        for (const piece of pieces) take(piece);
      },
      close() {
        note.closed = true;
      },
    };
  }
  /** Bytes that were given, when they came one after the other from `from` on. */
  end(from = 0): number {
    let end = from;
    for (const write of this.writes) {
      if (write.start !== end) throw new Error(`a write at ${write.start} where ${end} was due`);
      end = write.end;
    }
    return end;
  }
}
