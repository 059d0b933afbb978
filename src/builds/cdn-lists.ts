import { isPakratError, resultUnless } from '../core/errors.ts';
import { type CdnConfig, decodeCdnConfig } from '../formats/configs/cdn-config.ts';
import type { ObjectName } from '../store/layout.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import type { Store } from '../store/store.ts';
import { checkObject } from '../verify/check-object.ts';

/** The archives and indices that a CDN config lists. */
export type CdnList = Pick<CdnConfig, 'archives' | 'fileIndex' | 'patchArchives' | 'patchFileIndex'>;

/**
 * What the CDN configs of a store list, each read once. The configs of hundreds of builds list nearly the same archives: a hash is there once, in
 * however many lists it is.
 */
export class CdnLists {
  readonly #store: Store;
  readonly #lists = new Map<string, CdnList | undefined>();
  readonly #hashes = new Map<string, string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The list of a build; undefined while its CDN config is not held, or not right. */
  find({ cdnPath, cdnConfig }: Pick<BuildIdentity, 'cdnPath' | 'cdnConfig'>): CdnList | undefined {
    const id = `${cdnPath} ${cdnConfig}`;
    if (!this.#lists.has(id)) {
      const name: ObjectName = { cdnPath, kind: 'config', hash: cdnConfig };
      this.#lists.set(
        id,
        resultUnless(isPakratError, () => this.#read(name)),
      );
    }
    return this.#lists.get(id);
  }

  #read(name: ObjectName): CdnList | undefined {
    const bytes = this.#store.readObject(name);
    if (bytes === undefined) return undefined;
    checkObject(name, bytes);
    const { archives, fileIndex, patchArchives, patchFileIndex } = decodeCdnConfig(bytes);
    const once = (hash: string): string => {
      const known = this.#hashes.get(hash);
      // A part of a text would keep all of it in memory.
      const own = known ?? Buffer.from(hash, 'latin1').toString('latin1');
      if (known === undefined) this.#hashes.set(own, own);
      return own;
    };
    return { archives: archives.map(once), fileIndex, patchArchives: patchArchives.map(once), patchFileIndex };
  }
}
