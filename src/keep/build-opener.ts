import type { Build } from '../builds/build.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';

/** A build of the store that is open, with what fetches the parts of it that lack. Needs `close`. */
export interface OpenedBuild {
  build: Build;
  fetcher: Fetcher;
  close(): Promise<void>;
}

/** Opens builds of a store. @throws as openBuild */
export type BuildOpener = (identity: BuildIdentity, options: { offline: boolean }) => Promise<OpenedBuild>;
