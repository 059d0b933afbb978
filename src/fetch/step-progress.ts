import type { OnProgress } from '../core/progress.ts';
import type { Network } from './network.ts';

const toldEveryMs = 100;

/** Tells of steps as they begin, and of the bytes that come for each until it is over. Needs `end`. */
export class StepProgress {
  readonly #network: Network | undefined;
  readonly #onProgress: OnProgress | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(network: Network | undefined, onProgress: OnProgress | undefined) {
    this.#network = network;
    this.#onProgress = onProgress;
  }

  /** Begins a step, and ends the one before; undefined when there is none any more. */
  readonly onStep = (step: string | undefined): void => {
    this.end();
    if (step === undefined) return;
    const before = this.#bytes();
    const tell = (): void => this.#onProgress?.({ type: 'step', step, bytes: this.#bytes() - before });
    tell();
    // A folder brings no bytes.
    if (this.#network !== undefined) this.#timer = setInterval(tell, toldEveryMs);
  };

  /** Tells nothing more. */
  readonly end = (): void => clearInterval(this.#timer);

  #bytes(): number {
    return this.#network?.traffic.bytes ?? 0;
  }
}
