import { Md5Lanes, memoryToHash } from '../codecs/md5-lanes/index.ts';

/** The target of bytes whose hash was right. */
export interface VerifiedSink {
  /** Takes right bytes of the object at `position`; they are only there during the call. */
  write(position: number, bytes: Uint8Array): void;
  /** Room on disk for bytes that are too many to wait in memory for their hash. */
  spool(): Spool;
}

/** Bytes that wait on disk for their hash. */
export interface Spool {
  append(piece: Uint8Array): void;
  /** Hands the bytes to `take`, in pieces. */
  replay(take: (piece: Uint8Array) => void): void;
  close(): void;
}

/** Bytes that one hash covers. */
interface Unit {
  /** Their offset in the memory. */
  at: number;
  size: number;
}

/** A unit that is all there, waiting for its hash. */
interface CompleteUnit extends Unit {
  /** Offset of its bytes in the object. */
  position: number;
  /** Undefined for bytes that were checked already. */
  md5: Uint8Array | undefined;
  /** Called with whether the hash was right; says whether the bytes shall go to the sink. */
  onHashed: (isRight: boolean) => boolean;
}

/**
 * Bytes that wait before they are hashed at once, in all threads. Many at a time is fast; what is not hashed yet is lost when the
 * process is killed, half of this on average.
 */
const flushBytes = 32 * 1024 * 1024;
/** The memory at first: what is small needs no more, and a heap looks for garbage sooner where much memory hangs on it. */
const firstBytes = 1024 * 1024;

/**
 * Memory in which encoded bytes wait until many units can be hashed at once, which is three times as fast as one by one.
 * There is one for each thread, for all of its transfers; now and then all that is complete is hashed and goes to its sink.
 */
export class HashBuffer {
  /** All of the memory. */
  #memory: Uint8Array;
  #lanes: Md5Lanes;
  readonly #flushBytes: number;
  /** Where the memory ends when it is as large as it may be. */
  readonly #lastEnd: number;
  readonly #streams = new Set<HashStream>();
  #end = Md5Lanes.reservedBytes;
  #completeBytes = 0;

  /** @param threads threads of a transfer that have a room each. Default: one is no such thread, and has as much as one of four */
  constructor(threads?: number) {
    this.#flushBytes = flushBytes / (threads ?? 4);
    // As much again is for units that grow.
    this.#lastEnd = Md5Lanes.reservedBytes + 2 * this.#flushBytes;
    // A thread of a transfer fills its own: where that grew, the heaps of a sync of 2,000,000 entries took 25 MiB more.
    const memory = memoryToHash(threads === undefined ? firstBytes : 2 * this.#flushBytes);
    this.#memory = new Uint8Array(memory.buffer);
    this.#lanes = new Md5Lanes(memory);
  }

  /** Makes the memory as large as it may be. */
  #grow(): void {
    const held = this.#memory.subarray(0, this.#end);
    const memory = memoryToHash(2 * this.#flushBytes);
    this.#memory = new Uint8Array(memory.buffer);
    this.#memory.set(held);
    this.#lanes = new Md5Lanes(memory);
  }

  /** A stream for one object; its `sink` gets the bytes that turn out right. Needs `close`. */
  open(sink: VerifiedSink): HashStream {
    const stream = new HashStream(sink, this);
    this.#streams.add(stream);
    return stream;
  }

  /** Forgets the bytes of a stream. */
  remove(stream: HashStream): void {
    this.#streams.delete(stream);
  }

  /** Bytes of the memory, good until the buffer is flushed. */
  bytes({ at, size }: Unit): Uint8Array {
    return this.#memory.subarray(at, at + size);
  }

  /** Puts bytes into the memory. */
  set(bytes: Uint8Array, at: number): void {
    this.#memory.set(bytes, at);
  }

  /** Says that a unit is complete. */
  completed(size: number): void {
    this.#completeBytes += size;
  }

  /** Finds memory for a unit, flushing first when it is time; undefined for one that is too large for what is left then. */
  allocate(size: number): Unit | undefined {
    if (this.#completeBytes >= this.#flushBytes || this.#end + size > this.#lastEnd) this.flush();
    if (this.#end + size > this.#lastEnd) return undefined;
    if (this.#end + size > this.#memory.length) this.#grow();
    const unit = { at: this.#end, size };
    this.#end += size;
    return unit;
  }

  /** Hashes all that is complete and hands it over. An error of a sink is thrown by its own stream, the next time it is used. */
  flush(): void {
    const waiting = [...this.#streams].map((stream) => ({ stream, units: stream.takeComplete() }));
    const hashed = waiting.flatMap(({ units }) => units.filter(hasHash));
    const digests = this.#lanes.digest(hashed.map(({ at, size }) => ({ offset: at, size })));
    const wrong = new Set(hashed.filter(({ md5 }, i) => !startsWith(digests, i * 16, md5)));
    for (const { stream, units } of waiting) stream.handOver(units, wrong);
    this.#completeBytes = 0;
    this.#compact();
  }

  /** Moves the units that still grow to the start, each with room for the whole of it. */
  #compact(): void {
    this.#end = Md5Lanes.reservedBytes;
    const growing = [...this.#streams].flatMap(({ open }) => open ?? []).sort((a, b) => a.at - b.at);
    for (const unit of growing) {
      this.#memory.copyWithin(this.#end, unit.at, unit.at + unit.filled);
      unit.at = this.#end;
      this.#end += unit.size;
    }
  }
}

/**
 * The bytes of one transfer that wait for their hash: units that are complete, in the order in which they came, and one that grows.
 * Made by {@link HashBuffer.open}.
 */
export class HashStream {
  readonly sink: VerifiedSink;
  /** The unit that grows, for the buffer. */
  open: (Unit & { filled: number }) | undefined;
  readonly #buffer: HashBuffer;
  #complete: CompleteUnit[] = [];
  #failure: unknown;

  constructor(sink: VerifiedSink, buffer: HashBuffer) {
    this.sink = sink;
    this.#buffer = buffer;
  }

  /**
   * Opens a unit, or makes the open one as large as this.
   * @returns false when there is no room for it even though all that is complete was flushed: nothing changed then
   * @throws as the sink did
   */
  begin(size: number): boolean {
    const unit = this.#buffer.allocate(size);
    this.#throwFailure();
    if (unit === undefined) return false;
    const filled = this.open?.filled ?? 0;
    if (filled > 0) this.#buffer.set(this.openBytes, unit.at);
    this.open = { at: unit.at, size: unit.size, filled };
    return true;
  }

  /** Adds bytes to the open unit, not more than it has room for. */
  append(bytes: Uint8Array): void {
    const unit = this.#demandOpen();
    const filled = unit.filled + bytes.length;
    // The bytes that follow in the memory are another transfer's.
    if (filled > unit.size) throw new Error(`a unit of ${unit.size} bytes is given ${filled}`);
    this.#buffer.set(bytes, unit.at + unit.filled);
    unit.filled = filled;
  }

  /** The bytes of the open unit, where they are: good until something else is begun. */
  get openBytes(): Uint8Array {
    return this.#buffer.bytes({ at: this.open?.at ?? 0, size: this.open?.filled ?? 0 });
  }

  /** Forgets the open unit. */
  dropOpen(): void {
    this.open = undefined;
  }

  /** Ends the open unit, which is full. It is hashed with the buffer, after those that came before it. */
  submit({ position, md5, onHashed }: Pick<CompleteUnit, 'position' | 'md5' | 'onHashed'>): void {
    const { at, size } = this.#demandOpen();
    this.#complete.push({ at, size, position, md5, onHashed });
    this.#buffer.completed(size);
    this.open = undefined;
  }

  #demandOpen(): Unit & { filled: number } {
    if (this.open === undefined) throw new Error('no unit is open');
    return this.open;
  }

  /** True when units wait to be hashed. */
  get hasComplete(): boolean {
    return this.#complete.length > 0;
  }

  /** Hashes all that is complete, in this stream and in all others of the buffer; what is right goes to its sink. @throws as the sink did */
  flush(): void {
    this.#buffer.flush();
    this.#throwFailure();
  }

  /** Drops what is not hashed, and gives the memory back. */
  close(): void {
    this.#complete = [];
    this.open = undefined;
    this.#buffer.remove(this);
  }

  /** For the buffer: the complete units, which are its own from now on. */
  takeComplete(): CompleteUnit[] {
    return this.#complete.splice(0);
  }

  /** For the buffer: gives what is right to the sink, in order; neighbours of the object that are neighbours in memory in one piece. */
  handOver(units: readonly CompleteUnit[], wrong: ReadonlySet<CompleteUnit>): void {
    const right = units.filter((unit) => unit.onHashed(!wrong.has(unit)));
    try {
      for (const { position, ...run } of runsOf(right)) this.sink.write(position, this.#buffer.bytes(run));
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Units that are neighbours, in the object and in memory, as one. */
function runsOf(units: readonly CompleteUnit[]): (Unit & { position: number })[] {
  const runs: (Unit & { position: number })[] = [];
  for (const { at, size, position } of units) {
    const last = runs.at(-1);
    const isNext = last !== undefined && last.at + last.size === at && last.position + last.size === position;
    if (isNext) last.size += size;
    else runs.push({ at, size, position });
  }
  return runs;
}

function hasHash(unit: CompleteUnit): unit is CompleteUnit & { md5: Uint8Array } {
  return unit.md5 !== undefined;
}

/** True when these bytes stand at an offset of others: an installation knows only the first of a key. */
function startsWith(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}
