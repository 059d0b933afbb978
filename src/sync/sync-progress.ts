import type { OnProgress } from '../core/progress.ts';
import type { Network } from '../fetch/network.ts';
import type { Plan } from '../fetch/plan/plan.ts';

const everyMs = 100;

/** Tells how far a sync is: its steps with the bytes that came for each, then bytes and entries of the data, and the hosts. Needs `end`. */
export class SyncProgress {
  /** True once there is data to fetch. */
  hasData = false;
  readonly #network: Network | undefined;
  readonly #onProgress: OnProgress;
  readonly #timer: NodeJS.Timeout;
  readonly #files = { done: 0, total: 0 };
  #step: string | undefined;
  #total = 0;
  /** Bytes that came before this step, or before the data. */
  #before = 0;

  constructor(network: Network | undefined, onProgress: OnProgress) {
    this.#network = network;
    this.#onProgress = onProgress;
    this.#timer = setInterval(() => this.#tell(), everyMs);
  }

  /** Begins a step. */
  readonly onStep = (step: string): void => {
    this.#step = step;
    this.#before = this.#network?.traffic.bytes ?? 0;
    this.#tell();
  };

  /** Takes the plan: its data comes next. */
  readonly onPlan = ({ rangeBytes, missing }: Plan): void => {
    this.onStep('data');
    this.hasData = rangeBytes > 0;
    this.#total = rangeBytes;
    this.#files.total = missing.entries;
    const hosts = this.#network?.hosts.all.filter(({ fallback }) => !fallback) ?? [];
    this.#onProgress({ type: 'host', hosts: hosts.map(({ base }) => base.replace(/^https?:\/\//, '')) });
  };

  /** Counts an entry that is held now. */
  readonly onEntry = (): void => {
    this.#files.done += 1;
  };

  /** Tells why patches did not do more, where they were asked for. */
  noteWhyNotPatched(reason: string | undefined): void {
    if (reason !== undefined) this.#onProgress({ type: 'note', text: `--patch: ${reason}` });
  }

  #tell(): void {
    const bytes = (this.#network?.traffic.bytes ?? 0) - this.#before;
    if (this.hasData) {
      const done = Math.min(bytes, this.#total);
      this.#onProgress({ type: 'bytes', phase: 'data', done, total: this.#total, files: { ...this.#files } });
    } else if (this.#step !== undefined) {
      this.#onProgress({ type: 'step', step: this.#step, bytes });
    }
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
