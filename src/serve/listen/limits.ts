import { fittingJobs } from '../../files/open-files.ts';

/** The bounds that keep a client from using up a server that others use, too. */
export interface Limits {
  /** Connections in all. One more closes the one that has been idle for longest; where none is idle, it is closed itself. Default 4096, fewer where the process may open fewer files. */
  connections: number;
  /** Requests on one connection, which is closed then. Default 10,000. */
  requests: number;
  /** Bytes of a request line with its headers. Default 16 KiB. */
  headerBytes: number;
  /** Headers of a request. Default 100. */
  headers: number;
  /** Characters of a URL. Default 4096. */
  urlLength: number;
  /** Milliseconds in which a request has to come whole. Default 10 s. */
  requestMs: number;
  /** Milliseconds that a connection may wait for its next request. Default 60 s. */
  idleMs: number;
  /** A peer that takes nothing of what waits for it for so many milliseconds is cut. Default 30 s. */
  slowMs: number;
}

/** A connection has a file beside it. */
const filesOfConnection = 2;

/** The limits that hold unless told otherwise. */
export function defaultLimits(): Limits {
  return {
    connections: fittingJobs(4096, filesOfConnection, 16),
    requests: 10_000,
    headerBytes: 16 * 1024,
    headers: 100,
    urlLength: 4096,
    requestMs: 10_000,
    idleMs: 60_000,
    slowMs: 30_000,
  };
}
