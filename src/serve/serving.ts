import type { Session } from '../app/session/session.ts';
import type { WorkOptions } from '../core/progress.ts';
import type { Store } from '../store/store.ts';
import type { PullThrough } from './pull/pull-through.ts';

/** What a server offers, and where. */
export interface ServeOptions extends WorkOptions {
  /** Address to listen on. Default 127.0.0.1: this machine alone. */
  host?: string | undefined;
  /** Port for HTTP. Default 8080; 0: one that is free. */
  port?: number | undefined;
  /** `HOST[:PORT]` under which clients reach the server, as `cdns` names it. Default: the address that it listens on. */
  public?: string | undefined;
  /** The live build of products, each as `PRODUCT=BUILD`. Default: the one that was live last of those that are held. */
  live?: readonly string[] | undefined;
  /** Fetch what is missing from the CDN when it is asked for, and keep it. */
  pullThrough?: boolean | undefined;
  /** Bytes that the store may take on disk: what clients brought is forgotten then, longest unasked first. */
  maxBytes?: number | undefined;
}

/** The store that is served, and the name of the server. Its routes share it. */
export interface Serving {
  readonly session: Session;
  readonly store: Store;
  readonly options: ServeOptions;
  /** What fetches that which is missing; undefined where nothing is fetched. */
  readonly pull?: PullThrough | undefined;
  /** `host[:port]` as clients reach the server. Never what a request says. */
  readonly publicHost: () => string;
}
