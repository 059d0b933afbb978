import { md5, md5Hasher } from '../../core/hash.ts';
import {
  addressesOffset,
  constants,
  constantsOffset,
  laneCount,
  md5LanesModule,
  reservedBytes,
  stateOffset,
} from './wasm.ts';

/** A message: bytes of the memory that a {@link Md5Lanes} was made for. */
export interface Stretch {
  offset: number;
  size: number;
}

/** A message that is brought to the memory piece by piece. */
export interface StreamedMessage {
  size: number;
  /** Brings `size` bytes of it, the first of them `from` bytes behind its start, to an offset of the memory. */
  bring: (offset: number, size: number, from: number) => void;
}

/** Bytes that MD5 takes at a time. */
export const blockSize = 64;
/** Bytes of a digest. */
export const digestSize = 16;
/** The state of a lane before its first block. */
export const initialState = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
/** The time that one lane takes for a message, in times of OpenSSL. Eight of them at once are three times as fast all the same. */
const laneSlowness = 2.4;

type Message = Stretch | StreamedMessage;

/** Messages that go through the lanes at a time, and the state of each lane. */
interface Run {
  messages: readonly Message[];
  /** Room for pieces of messages that are brought, for each lane. */
  room: Stretch;
  /** Of all messages, one behind the other. */
  digests: Uint8Array;
  /** Those that no lane has taken yet, by their place among the messages. */
  waiting: Iterator<number>;
  /** The message of each lane; -1 for none. */
  message: Int32Array;
  /** The blocks that each lane has still to take: of the whole blocks of its message first, then of the end of it with the padding. */
  blocks: Int32Array;
  /** The bytes of its message that each lane was given so far. */
  given: Float64Array;
  inTail: Uint8Array;
}

/** Takes so many blocks of each lane's message into its state. */
export type Compress = (blocks: number) => void;

/**
 * MD5 of many messages at once, all in one memory: about three times as fast as one after the other, for MD5 waits for itself most of
 * the time. Where the machine has no vectors for WebAssembly, it hashes one after the other. The memory may not grow.
 */
export class Md5Lanes {
  /** The first bytes of the memory are for the hash itself. */
  static readonly reservedBytes = reservedBytes + laneCount * 2 * blockSize;
  // Made once: a view for each of millions of messages would have to be collected.
  readonly #memory: Uint8Array;
  readonly #view: DataView;
  readonly #compress: Compress | undefined;
  readonly #state: Uint32Array;
  readonly #addresses: Uint32Array;

  constructor(memory: WebAssembly.Memory) {
    const { buffer } = memory;
    this.#memory = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.#compress = instantiate(memory);
    this.#state = new Uint32Array(buffer, stateOffset, laneCount * 4);
    this.#addresses = new Uint32Array(buffer, addressesOffset, laneCount);
    new Uint32Array(buffer, constantsOffset, 256).set(constants());
  }

  /** @returns the digests in the order of the messages, 16 bytes each */
  digest(messages: readonly Stretch[]): Uint8Array {
    const digests = new Uint8Array(messages.length * digestSize);
    const order = messages.map((_, i) => i).sort((a, b) => messages[b]!.size - messages[a]!.size);
    const alone = this.#compress === undefined ? order.length : countAlone(order.map((i) => messages[i]!.size));
    for (const i of order.splice(0, alone)) {
      const { offset, size } = messages[i]!;
      digests.set(md5(this.#memory.subarray(offset, offset + size)), i * digestSize);
    }
    this.#run(messages, order, digests);
    return digests;
  }

  /**
   * As {@link digest}, of messages that are larger than the memory.
   * @param room a part of the memory for pieces of them: the same for each lane, and a multiple of 64 bytes
   */
  digestStreams(messages: readonly StreamedMessage[], room: Stretch): Uint8Array {
    const digests = new Uint8Array(messages.length * digestSize);
    const order = messages.map((_, i) => i).sort((a, b) => messages[b]!.size - messages[a]!.size);
    const alone = this.#compress === undefined ? order.length : countAlone(order.map((i) => messages[i]!.size));
    for (const i of order.splice(0, alone)) digests.set(this.#hashAlone(messages[i]!, room), i * digestSize);
    this.#run(messages, order, digests, { ...room, size: Math.floor(room.size / laneCount / blockSize) * blockSize });
    return digests;
  }

  #hashAlone({ size, bring }: StreamedMessage, room: Stretch): Uint8Array {
    const hash = md5Hasher();
    for (let done = 0; done < size; done += room.size) {
      const piece = Math.min(room.size, size - done);
      bring(room.offset, piece, done);
      hash.update(this.#memory.subarray(room.offset, room.offset + piece));
    }
    return hash.digest();
  }

  /** Sends messages through the lanes, the longest first; a lane that is through takes the next one. */
  #run(messages: readonly Message[], order: readonly number[], digests: Uint8Array, room: Stretch = nowhere): void {
    const message = new Int32Array(laneCount).fill(-1);
    const [blocks, inTail] = [new Int32Array(laneCount), new Uint8Array(laneCount)];
    const given = new Float64Array(laneCount);
    const run: Run = { messages, room, digests, waiting: order.values(), message, blocks, given, inTail };
    for (let lane = 0; lane < laneCount; lane++) this.#goOn(lane, run);
    for (;;) {
      let least = -1;
      for (let lane = 0; lane < laneCount; lane++) {
        if (message[lane] !== -1 && (least === -1 || blocks[lane]! < blocks[least]!)) least = lane;
      }
      if (least === -1) return;
      const step = blocks[least]!;
      // A lane without a message reads along with another.
      for (let lane = 0; lane < laneCount; lane++)
        if (message[lane] === -1) this.#addresses[lane] = this.#addresses[least]!;
      this.#compress!(step);
      for (let lane = 0; lane < laneCount; lane++) {
        if (message[lane] === -1) continue;
        this.#addresses[lane]! += step * blockSize;
        blocks[lane]! -= step;
        this.#goOn(lane, run);
      }
    }
  }

  /** Sees to it that a lane has something to take: the end of its message, else the next message, as long as there is one. */
  #goOn(lane: number, run: Run): void {
    while (run.blocks[lane] === 0) {
      const message = run.message[lane]!;
      if (message !== -1 && run.inTail[lane] === 0) {
        if (!this.#bringMore(lane, run)) this.#startTail(lane, run);
        return;
      }
      if (message !== -1) putDigest(run.digests, message * digestSize, this.#state, lane);
      const { value: next = -1 } = run.waiting.next();
      run.message[lane] = next;
      if (next === -1) return;
      const found = run.messages[next]!;
      const isThere = 'offset' in found;
      if (isThere) this.#addresses[lane] = found.offset;
      run.blocks[lane] = isThere ? Math.floor(found.size / blockSize) : 0;
      run.given[lane] = run.blocks[lane]! * blockSize;
      run.inTail[lane] = 0;
      for (let word = 0; word < 4; word++) this.#state[wordOf(lane, word)] = initialState[word]!;
    }
  }

  /** Brings the next whole blocks of a lane's message. @returns false when it has no more of them */
  #bringMore(lane: number, { messages, message, blocks, given, room }: Run): boolean {
    const streamed = messages[message[lane]!]!;
    const left = streamed.size - (streamed.size % blockSize) - given[lane]!;
    if (left === 0 || 'offset' in streamed) return false;
    const size = Math.min(left, room.size);
    const offset = room.offset + lane * room.size;
    streamed.bring(offset, size, given[lane]!);
    this.#addresses[lane] = offset;
    blocks[lane] = size / blockSize;
    given[lane]! += size;
    return true;
  }

  /** The end of a message: what is left of it, a 1 bit, zeros, and its size in bits (RFC 1321, 3.1 and 3.2). */
  #startTail(lane: number, { messages, message: numbers, blocks, inTail }: Run): void {
    const message = messages[numbers[lane]!]!;
    const { size } = message;
    const rest = size % blockSize;
    const at = reservedBytes + lane * 2 * blockSize;
    blocks[lane] = rest < blockSize - 8 ? 1 : 2;
    const end = at + blocks[lane]! * blockSize;
    this.#memory.fill(0, at, end);
    if ('offset' in message) this.#memory.copyWithin(at, message.offset + size - rest, message.offset + size);
    else if (rest > 0) message.bring(at, rest, size - rest);
    this.#memory[at + rest] = 0x80;
    this.#view.setUint32(end - 8, (size * 8) % 2 ** 32, true);
    this.#view.setUint32(end - 4, Math.floor(size / 2 ** 29), true);
    this.#addresses[lane] = at;
    inTail[lane] = 1;
  }
}

const nowhere: Stretch = { offset: 0, size: 0 };

/** The number of these sizes, largest first, that are better hashed one by one: they would keep the other lanes idle. */
function countAlone(sizes: readonly number[]): number {
  let alone = 0;
  let rest = sizes.reduce((sum, size) => sum + size, 0);
  let best = { count: 0, cost: Number.POSITIVE_INFINITY };
  for (let count = 0; count <= sizes.length; count++) {
    const largest = sizes[count] ?? 0;
    const cost = alone + laneSlowness * Math.max(largest, rest / laneCount);
    if (cost < best.cost) best = { count, cost };
    alone += largest;
    rest -= largest;
  }
  return best.count;
}

const pageBytes = 64 << 10;

/** A memory to hash in, with room for so many bytes behind what {@link Md5Lanes} keeps for itself. */
export function memoryToHash(bytes: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: Math.ceil((Md5Lanes.reservedBytes + bytes) / pageBytes) });
}

/** The place of a word of a lane's state, counted in words. */
export function wordOf(lane: number, word: number): number {
  return 16 * (lane >> 2) + 4 * word + (lane & 3);
}

/** Puts the digest that a lane's state is into bytes. */
export function putDigest(digests: Uint8Array, at: number, state: Uint32Array, lane: number): void {
  for (let i = 0; i < digestSize; i++) digests[at + i] = state[wordOf(lane, i >> 2)]! >>> (8 * (i & 3));
}

/** Compiled once: whoever checks many files has many instances. */
let compiled: WebAssembly.Module | undefined;

/** The code over a memory; undefined where WebAssembly or its vectors are missing. */
export function instantiate(memory: WebAssembly.Memory): Compress | undefined {
  try {
    compiled ??= new WebAssembly.Module(md5LanesModule());
    const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
    return exports.compress as Compress;
  } catch {
    return undefined;
  }
}
