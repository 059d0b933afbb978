import {
  blockSize,
  type Compress,
  digestSize,
  initialState,
  instantiate,
  Md5Lanes,
  memoryToHash,
  putDigest,
  wordOf,
} from './index.ts';
import { addressesOffset, constants, constantsOffset, laneCount, stateOffset } from './wasm.ts';

/** A 1 bit and the size of the message follow it at least. */
const leastPadding = 9;

/** Bytes that messages may lie in, and that messages may take with their padding. */
interface Sizes {
  givenBytes: number;
  paddedBytes: number;
}

/**
 * MD5 of very many messages of a few blocks each. A message is copied to where its padding follows it: so a lane goes through it without a stop, and
 * no object is made for one. Large messages are for {@link Md5Lanes}, which copies none. Messages are added, then hashed all at once.
 */
export class ShortMessages {
  /** The memory in which messages lie when they are added. */
  readonly given: Uint8Array;
  readonly #memory: Uint8Array;
  readonly #view: DataView;
  readonly #compress: Compress;
  readonly #state: Uint32Array;
  readonly #addresses: Uint32Array;
  /** Where the copies begin. */
  readonly #start: number;
  #end: number;
  #count = 0;
  /** The place of each message, and its blocks with the padding. */
  readonly #places: Int32Array;
  readonly #blocks: Int32Array;
  readonly #order: Int32Array;
  readonly #starts: Int32Array;
  readonly #digests: Uint8Array;
  /** The message of each lane, -1 for none, and the blocks that it has still to take. */
  readonly #message = new Int32Array(laneCount);
  readonly #left = new Int32Array(laneCount);

  /** Undefined where there is no WebAssembly, or no vectors for it. */
  static create(sizes: Sizes): ShortMessages | undefined {
    const memory = memoryToHash(sizes.givenBytes + sizes.paddedBytes + blockSize);
    const compress = instantiate(memory);
    return compress && new ShortMessages(memory, compress, sizes);
  }

  private constructor({ buffer }: WebAssembly.Memory, compress: Compress, { givenBytes, paddedBytes }: Sizes) {
    this.#compress = compress;
    this.#memory = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.#state = new Uint32Array(buffer, stateOffset, laneCount * 4);
    this.#addresses = new Uint32Array(buffer, addressesOffset, laneCount);
    new Uint32Array(buffer, constantsOffset, 256).set(constants());
    this.given = new Uint8Array(buffer, Md5Lanes.reservedBytes, givenBytes);
    this.#start = Math.ceil((Md5Lanes.reservedBytes + givenBytes) / blockSize) * blockSize;
    this.#end = this.#start;
    const most = Math.floor(paddedBytes / blockSize);
    this.#places = new Int32Array(most);
    this.#blocks = new Int32Array(most);
    this.#order = new Int32Array(most);
    this.#starts = new Int32Array(most + 1);
    this.#digests = new Uint8Array(most * digestSize);
  }

  /** Adds a message that lies at an offset of {@link given}. @returns false where there is no room for it before the others are hashed */
  add(offset: number, size: number): boolean {
    const blocks = Math.ceil((size + leastPadding) / blockSize);
    const place = this.#end;
    const end = place + blocks * blockSize;
    if (end > this.#start + this.#places.length * blockSize) return false;
    const from = this.given.byteOffset + offset;
    const memory = this.#memory;
    memory.copyWithin(place, from, from + size);
    memory[place + size] = 0x80;
    for (let at = place + size + 1; at < end - 8; at++) memory[at] = 0;
    this.#view.setUint32(end - 8, (size * 8) % 2 ** 32, true);
    this.#view.setUint32(end - 4, Math.floor(size / 2 ** 29), true);
    this.#places[this.#count] = place;
    this.#blocks[this.#count] = blocks;
    this.#count += 1;
    this.#end = end;
    return true;
  }

  /** Hashes what was added, and forgets it. @returns the digests in the order of the messages, 16 bytes each; good until the next are asked for */
  digest(): Uint8Array {
    const count = this.#count;
    this.#count = 0;
    this.#end = this.#start;
    this.#run(this.#longestFirst(count));
    return this.#digests.subarray(0, count * digestSize);
  }

  /** Messages that are about as long are in the lanes together. Counted rather than compared: they have few lengths. */
  #longestFirst(count: number): Int32Array {
    const blocks = this.#blocks;
    const starts = this.#starts.fill(0);
    for (let i = 0; i < count; i++) starts[blocks[i]!]! += 1;
    let start = count;
    for (let length = 0; length < starts.length; length++) {
      start -= starts[length]!;
      starts[length] = start;
    }
    const order = this.#order.subarray(0, count);
    for (let i = 0; i < count; i++) order[starts[blocks[i]!]!++] = i;
    return order;
  }

  #run(order: Int32Array): void {
    const [message, left] = [this.#message, this.#left];
    let next = 0;
    const begin = (lane: number): void => {
      const taken = next < order.length ? order[next]! : -1;
      next += 1;
      message[lane] = taken;
      if (taken === -1) return;
      left[lane] = this.#blocks[taken]!;
      this.#addresses[lane] = this.#places[taken]!;
      for (let word = 0; word < 4; word++) this.#state[wordOf(lane, word)] = initialState[word]!;
    };
    for (let lane = 0; lane < laneCount; lane++) begin(lane);
    for (;;) {
      let least = -1;
      for (let lane = 0; lane < laneCount; lane++) {
        if (message[lane] !== -1 && (least === -1 || left[lane]! < left[least]!)) least = lane;
      }
      if (least === -1) return;
      const step = left[least]!;
      for (let lane = 0; lane < laneCount; lane++) {
        // A lane without a message reads along with another.
        if (message[lane] === -1) this.#addresses[lane] = this.#addresses[least]!;
      }
      this.#compress(step);
      for (let lane = 0; lane < laneCount; lane++) {
        if (message[lane] === -1) continue;
        left[lane]! -= step;
        this.#addresses[lane]! += step * blockSize;
        if (left[lane] !== 0) continue;
        putDigest(this.#digests, message[lane]! * digestSize, this.#state, lane);
        begin(lane);
      }
    }
  }
}
