import * as pako from 'pako';
import { formatError } from '../../../core/errors.ts';

/** Bytes that the game inflates at once, before it parses them. */
const inflatedStepSize = 0x400;
/** Bytes of the stream that the game fetches when the inflater has none left: one page of the cipher. */
const fetchedStepSize = 0x100;

/** Gives the next bytes of a stream, at most `size`; none when it is over. */
export type TakeBytes = (size: number) => Promise<Uint8Array> | Uint8Array;

/**
 * Inflates in the steps of the game: a buffer of 1 KiB is filled whenever it has been used up, and while it is being
 * filled the compressed stream is fetched by 256 bytes. Which page is decrypted when, and so what feedback it takes,
 * depends on how zlib swallows its input; pako does so as the original zlib does (checked on 960 streams).
 */
export class SteppedInflate {
  readonly #stream = new pako.ZStream();
  #ended = false;

  constructor() {
    pako.zlibInflateInit2(this.#stream, 15);
    this.#stream.input = new Uint8Array(0);
  }

  /** True when the end of the stream was reached, its checksum included. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The next filling of the buffer; empty when the stream is over. Throws E_FORMAT, E_FORMAT_CHECKSUM for damage. */
  async fill(take: TakeBytes): Promise<Uint8Array> {
    const stream = this.#stream;
    if (this.#ended) return new Uint8Array(0);
    stream.output = new Uint8Array(inflatedStepSize);
    stream.next_out = 0;
    stream.avail_out = inflatedStepSize;
    while (stream.avail_out > 0 && !this.#ended) {
      if (stream.avail_in === 0) {
        const fetched = await take(fetchedStepSize);
        if (fetched.length === 0) break;
        stream.input = fetched;
        stream.next_in = 0;
        stream.avail_in = fetched.length;
      }
      this.#step();
    }
    return stream.output.subarray(0, stream.next_out);
  }

  #step(): void {
    const status = pako.zlibInflate(this.#stream, pako.Z_SYNC_FLUSH);
    if (status === pako.Z_STREAM_END) {
      this.#ended = true;
    } else if (status !== pako.Z_OK) {
      const isChecksum = this.#stream.msg === 'incorrect data check';
      throw formatError(isChecksum ? 'E_FORMAT_CHECKSUM' : 'E_FORMAT', 'zlib stream', this.#stream.msg || 'damaged');
    }
  }
}
