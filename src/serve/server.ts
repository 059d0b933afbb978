import type { AddressInfo } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import type { Session } from '../app/session/session.ts';
import { PakratError } from '../core/errors.ts';
import { addAnswerRoutes } from './answers/answer-routes.ts';
import { addObjectRoutes } from './objects/object-routes.ts';
import { addPageRoutes } from './pages/page-routes.ts';
import { openPull } from './pull/open-pull.ts';
import type { ServeOptions, Serving } from './serving.ts';

/** A running server. Needs `close`. */
export interface Server {
  /** `http://host:port` of the address that it listens on. */
  readonly url: string;
  readonly port: number;
  /** Lets answers that have begun end for a moment, and cuts what is left. */
  close(): Promise<void>;
}

const defaultPort = 8080;

/**
 * Serves a store: its objects as a CDN has them, the version services, and a page for people. Nothing outside of the store can be named.
 * @throws E_NOT_FOUND when there is no store, E_USAGE for an address that cannot be listened on, E_STORE…
 */
export async function startServer(session: Session, options: ServeOptions = {}): Promise<Server> {
  const { host = '127.0.0.1', port = defaultPort } = options;
  const store = await session.store({ create: options.pullThrough === true });
  const pull = await openPull(session, store, options);
  const app: FastifyInstance = fastify({
    // A proxy's form of a request names the host, too: only the path counts.
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?#]*(?=[/?#]|$)/i, '') || '/',
    forceCloseConnections: true,
  });
  const addressOf = (): string => `${host.includes(':') ? `[${host}]` : host}:${boundPort(app)}`;
  const serving: Serving = { session, store, options, pull, publicHost: () => options.public ?? addressOf() };
  addPageRoutes(app, serving);
  addAnswerRoutes(app, serving);
  addObjectRoutes(app, serving);
  app.addHook('onClose', async () => pull?.close());
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new PakratError('E_USAGE', `cannot listen on ${host}:${port}: ${(error as Error).message}`, {
      hint: 'Another program may have the port: name a free one with --port.',
      cause: error,
    });
  }
  return { url: `http://${addressOf()}`, port: boundPort(app), close: () => app.close() };
}

function boundPort(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo).port;
}
