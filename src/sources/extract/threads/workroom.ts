import { Md5Lanes, memoryToHash, type StreamedMessage, type Stretch } from '../../../codecs/md5-lanes/index.ts';

/** Room for what is hashed at once: of files up to that size, many beside each other take a third of the time. */
const roomBytes = 24 << 20;

/** Pieces of large files that are hashed beside each other, all together: they stay in the caches. */
const pieceBytes = 4 << 20;

/** Memory in which a thread reads, decodes and hashes files, many at a time; whoever is at work has all of it. */
export class Workroom {
  /** All of the memory; what is before {@link start} is for the hashes. */
  readonly bytes: Uint8Array;
  readonly start: number = Md5Lanes.reservedBytes;
  readonly #lanes: Md5Lanes;

  constructor() {
    const memory = memoryToHash(roomBytes);
    this.bytes = new Uint8Array(memory.buffer);
    this.#lanes = new Md5Lanes(memory);
  }

  /** Bytes that can be in it. */
  get size(): number {
    return this.bytes.length - this.start;
  }

  /** MD5 of messages that are brought to it piece by piece, 16 bytes each. */
  streamedDigests(messages: readonly StreamedMessage[]): Uint8Array {
    return this.#lanes.digestStreams(messages, { offset: this.start, size: pieceBytes });
  }

  /** MD5 of parts of the memory, 16 bytes each. */
  digests(parts: readonly Stretch[]): Uint8Array {
    return this.#lanes.digest(parts);
  }
}
