import type { KeyRing } from '../../../formats/blte/keys.ts';

/** A key that threads are told when one of them lacked it. */
export interface ToldKey {
  name: string;
  key: Uint8Array;
}

/** The keys that a thread was told. */
export class ToldKeys implements KeyRing {
  readonly #keys = new Map<string, Uint8Array>();

  find(name: string): Uint8Array | undefined {
    return this.#keys.get(name);
  }

  hear({ name, key }: ToldKey): void {
    this.#keys.set(name, key);
  }
}
