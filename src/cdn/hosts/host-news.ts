import { type Host, shownHost } from './host-names.ts';

/** After this time without a byte of anyone, those that are asked are named. */
const quietMs = 3000;

/** Tells a person which host is in trouble, as long as nothing comes of any: a bar that stands still says nothing. Needs `close`. */
export class HostNews {
  readonly #onProblem: (problem: string | undefined) => void;
  /** Hosts that owe an answer, and how many. */
  readonly #asked = new Map<Host, number>();
  #timer: NodeJS.Timeout | undefined;
  #quietSince = 0;
  #isShown = false;

  /** @param onProblem called with what is wrong in one line, and with undefined when bytes come again */
  constructor(onProblem: (problem: string | undefined) => void = () => {}) {
    this.#onProblem = onProblem;
  }

  asking(host: Host): void {
    if (this.#asked.size === 0) {
      this.#quietSince = performance.now();
      this.#timer = setInterval(() => this.#look(), 1000).unref();
    }
    this.#asked.set(host, (this.#asked.get(host) ?? 0) + 1);
  }

  /** How many answers the host owes. */
  owed(host: Host): number {
    return this.#asked.get(host) ?? 0;
  }

  /** It answered, rightly or wrongly. */
  answered(host: Host): void {
    const left = (this.#asked.get(host) ?? 1) - 1;
    if (left > 0) this.#asked.set(host, left);
    else this.#asked.delete(host);
    if (this.#asked.size === 0) clearInterval(this.#timer);
  }

  /** Bytes of a body came. */
  heard(): void {
    this.#quietSince = performance.now();
    if (this.#isShown) this.#onProblem(undefined);
    this.#isShown = false;
  }

  /** A host failed; `problem` says how, and what is tried next. */
  failed(problem: string): void {
    this.#isShown = true;
    this.#onProblem(problem);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#asked.clear();
  }

  #look(): void {
    const seconds = Math.floor((performance.now() - this.#quietSince) / 1000);
    if (seconds * 1000 < quietMs) return;
    const [first, ...others] = new Set([...this.#asked.keys()].map(shownHost));
    if (first === undefined) return;
    const more =
      others.length === 0 ? '' : others.length === 1 ? ` and ${others[0]}` : ` and ${others.length} more hosts`;
    this.failed(`${first}${more}: no answer for ${seconds} s`);
  }
}
