import type { Session } from '../app/session/session.ts';
import { hostAndPort } from '../cdn/transport/host-text.ts';
import { addAnswerRoutes } from './answers/answer-routes.ts';
import { openAnswers } from './answers/answers.ts';
import { chosenBuilds } from './answers/chosen-builds.ts';
import { watchConnections } from './listen/connections.ts';
import { defaultLimits } from './listen/limits.ts';
import { listen, stopListening } from './listen/listen.ts';
import { makePorts } from './listen/ports.ts';
import { checkPublic, isEvery, publicHost } from './listen/public-host.ts';
import { openMetrics } from './metrics/metrics.ts';
import { addWatchRoutes } from './metrics/watch-routes.ts';
import { addObjectRoutes } from './objects/object-routes.ts';
import { addPageRoutes } from './pages/page-routes.ts';
import { openPull } from './pull/open-pull.ts';
import type { ServeOptions } from './serve-options.ts';
import type { Serving } from './serving.ts';

/** A running server. Needs `close`. */
export interface Server {
  /** `http://host:port` of the address that it listens on. */
  readonly url: string;
  readonly port: number;
  /** `ribbit://host:port`, where that is served. */
  readonly ribbitUrl: string | undefined;
  /** `host[:port]` that `cdns` names. */
  readonly public: string;
  /** Lets answers that have begun end for a moment, and cuts what is left. */
  close(): Promise<void>;
}

const defaultPort = 8080;
/** Answers that have begun get this long when the server ends: a command ends within two seconds. */
const graceMs = 800;

/**
 * Serves a store: its objects as a CDN has them, the version services, and a page for people. Nothing outside of the store can be named.
 * @throws E_NOT_FOUND when there is no store, E_USAGE for an address that cannot be listened on and for a live build that is not known, E_STORE…
 */
export async function startServer(session: Session, options: ServeOptions = {}): Promise<Server> {
  const { host = '127.0.0.1', port = defaultPort, ribbit, onProgress } = options;
  const named = options.public === undefined ? undefined : checkPublic(options.public);
  const limits = { ...defaultLimits(), ...options.limits };
  const store = await session.store({ create: options.pullThrough === true });
  const chosen = chosenBuilds(store, options.live ?? []);
  let boundPort = port;
  const publicName = (): string => named ?? publicHost({ host, port: boundPort });
  const answers = openAnswers({ store, chosen, mayLack: options.pullThrough === true, publicHost: publicName });
  const pull = await openPull(session, store, options, () => answers.renew());
  // What lacks is fetched of builds that the ledger knows.
  if (pull !== undefined) for (const build of chosen.values()) store.ledger.addBuild(build);
  const connections = watchConnections(limits);
  const heldBytes = (): number => store.ledger.heldBytes();
  const metrics = openMetrics({ connections: () => connections.count, heldBytes });
  for (const figure of pull?.figures() ?? []) metrics.add(figure);
  const serving: Serving = { session, store, options, publicHost: publicName, answers, metrics, pull };
  const isShared = ribbit !== undefined && ribbit === port && port !== 0;
  const ports = makePorts({ serving, connections, limits, isShared });
  addPageRoutes(ports.app, serving);
  addWatchRoutes(ports.app, serving);
  addAnswerRoutes(ports.app, serving);
  addObjectRoutes(ports.app, serving);
  const close = async (): Promise<void> => {
    connections.close(graceMs);
    await Promise.all([ports.app.close(), stopListening(ports.ribbit)]);
    await pull?.close();
  };
  let ribbitPort: number | undefined;
  try {
    boundPort = await listen(ports.app.server, { host, port }, () => ports.app.listen({ host, port }));
    if (ribbit !== undefined && isShared) ribbitPort = boundPort;
    else if (ribbit !== undefined) ribbitPort = await listen(ports.ribbit, { host, port: ribbit });
  } catch (error) {
    await close();
    throw error;
  }
  if (named === undefined && isEvery(host)) {
    const text = `clients are told to come to ${publicName()}; --public HOST[:PORT] names another`;
    onProgress?.({ type: 'note', text });
  }
  return {
    url: `http://${hostAndPort(host, boundPort)}`,
    port: boundPort,
    ribbitUrl: ribbitPort === undefined ? undefined : `ribbit://${hostAndPort(host, ribbitPort)}`,
    public: publicName(),
    close,
  };
}
