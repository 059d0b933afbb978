import * as zlib from 'node:zlib';

/** The engine below a zlib stream of the runtime, which it does not describe: `state` has what is left of output and input after a write. */
interface Engine {
  handle: {
    reset(): void;
    writeSync(
      flush: number,
      input: Uint8Array,
      inputAt: number,
      inputSize: number,
      output: Uint8Array,
      outputAt: number,
      outputSize: number,
    ): void;
    onerror: () => void;
  };
  state: Uint32Array;
}

/** A part of some bytes. */
interface Part {
  readonly at: number;
  readonly size: number;
}

/**
 * Inflates many small zlib streams, one after the other, with one engine and to where they are wanted: to make an engine and its output for each takes
 * longer than a small stream. It says only whether that went well. Why it did not, `inflate` tells; that is also the way where the runtime has no such engine.
 */
export class Inflater {
  #engine: Engine | undefined = makeEngine();
  #hasFailed = false;

  /**
   * Inflates one whole zlib stream of exactly `output.size` bytes. The byte behind the output must be there as well, and is not kept.
   * @returns false where it cannot, or the stream is not one of that size; what is in the output then is nothing
   */
  inflate(bytes: Uint8Array, input: Part, target: Uint8Array, output: Part): boolean {
    const engine = this.#engine;
    if (engine === undefined || output.at + output.size >= target.length) return false;
    this.#hasFailed = false;
    engine.handle.onerror = () => {
      this.#hasFailed = true;
    };
    engine.handle.reset();
    // With room for one byte more the end of the stream is met, and its checksum looked at, in this one write; it is an error if not.
    engine.handle.writeSync(zlib.constants.Z_FINISH, bytes, input.at, input.size, target, output.at, output.size + 1);
    const [roomLeft, inputLeft] = engine.state;
    if (this.#hasFailed) this.#engine = makeEngine();
    return !this.#hasFailed && roomLeft === 1 && inputLeft === 0;
  }
}

function makeEngine(): Engine | undefined {
  const { _handle: handle, _writeState: state } = zlib.createInflate() as unknown as {
    _handle?: Partial<Engine['handle']> | null;
    _writeState?: unknown;
  };
  const isKnown =
    typeof handle?.reset === 'function' && typeof handle.writeSync === 'function' && ArrayBuffer.isView(state);
  return isKnown ? ({ handle, state } as Engine) : undefined;
}
