import type { Build } from '../builds/build.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';

/** The hosts of a build. Needs `close`. */
export interface ConnectedBuild {
  fetcher: Fetcher;
  close(): Promise<void>;
}

/** A build of the store that is open, with what fetches the parts of it that lack. Needs `close`. */
export interface OpenedBuild extends ConnectedBuild {
  build: Build;
}

/** Opens builds of a store, and connects to the hosts of those that may not be there to be opened. */
export interface BuildOpener {
  /** @throws as openBuild */
  open(identity: BuildIdentity, options: { offline: boolean }): Promise<OpenedBuild>;
  connect(identity: BuildIdentity): Promise<ConnectedBuild>;
}
