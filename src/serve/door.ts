/**
 * `pakrat/serve`: a store as a server, for programs that have one of their own. {@link startServer} listens; what it serves is as
 * `pakrat serve` serves it.
 */
import { openSession } from '../app/session/session.ts';
import type { SessionOptions } from '../app/session/session-options.ts';
import type { ServeOptions } from './serve-options.ts';
import { type Server, startServer as serveSession } from './server.ts';

export type { SessionOptions } from '../app/session/session-options.ts';
export { type ErrorCode, isPakratError, PakratError } from '../core/errors.ts';
export type { Limits } from './listen/limits.ts';
export { type LogEntry, logFormats } from './logs/log-line.ts';
export type { ServeOptions } from './serve-options.ts';
export type { Server } from './server.ts';

/**
 * Opens a store and serves it. It prints nothing, handles no signals of the process, and closing the server closes the store.
 * @throws E_NOT_FOUND when there is no store, E_USAGE for options that are none and for an address that cannot be listened on, E_STORE…
 */
export async function startServer(options: SessionOptions & ServeOptions): Promise<Server> {
  const session = await openSession(options);
  try {
    const server = await serveSession(session, options);
    const close = async (): Promise<void> => {
      try {
        await server.close();
      } finally {
        await session.close();
      }
    };
    return { ...server, close };
  } catch (error) {
    await session.close();
    throw error;
  }
}
