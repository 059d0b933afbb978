import type { WorkOptions } from '../core/progress.ts';
import type { Limits } from './listen/limits.ts';
import type { LogEntry } from './logs/log-line.ts';

/** What a server offers, and where. */
export interface ServeOptions extends WorkOptions {
  /** Address to listen on. Default 127.0.0.1: this machine alone. */
  host?: string | undefined;
  /** Port for HTTP. Default 8080; 0: one that is free. */
  port?: number | undefined;
  /** Port for Ribbit, the version service over TCP; it may be that of HTTP, and answers HTTP in any case. Default: none; 0: one that is free. */
  ribbit?: number | undefined;
  /** `HOST[:PORT]` under which clients reach the server, as `cdns` names it. Default: the address that it listens on. */
  public?: string | undefined;
  /** The live build of products, each as `PRODUCT=BUILD`. Default: the newest that is held whole. */
  live?: readonly string[] | undefined;
  /** Called with each request when its answer has ended: `logFormats` makes a line of it. Must not throw. */
  onRequest?: ((entry: LogEntry) => void) | undefined;
  /** Bounds on what clients may take up. */
  limits?: Partial<Limits> | undefined;
  /** Fetch what is missing from the CDN when it is asked for, and keep it. */
  pullThrough?: boolean | undefined;
  /** Bytes that the store may take on disk: what clients brought is forgotten then, longest unasked first. */
  maxBytes?: number | undefined;
  /** Sources that the page shows beside the builds of the store: PAKs, installed games, folders. */
  sources?: readonly string[] | undefined;
}
