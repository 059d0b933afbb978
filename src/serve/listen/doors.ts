import type * as http from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { type FastifyError, type FastifyInstance, fastify } from 'fastify';
import { isNotFound, messageOf } from '../../core/errors.ts';
import { ribbitAnswer } from '../answers/ribbit-answer.ts';
import type { Serving } from '../serving.ts';
import type { Connections } from './connections.ts';
import { makeHttpServer, pathOf, textOf } from './http-server.ts';
import type { Limits } from './limits.ts';
import { answerRibbit, tellProtocol } from './ribbit.ts';

/** The servers behind the ports of one server, before they listen. Need `close`. */
export interface Doors {
  /** Routes are added to it. */
  app: FastifyInstance;
  http: Server;
  /** For a port of Ribbit alone, which answers HTTP as well: old clients ask so. */
  ribbit: Server;
}

/** What the doors stand before. */
interface DoorOptions {
  serving: Serving;
  connections: Connections;
  limits: Limits;
  /** True when the port of HTTP answers Ribbit, too. */
  isShared: boolean;
}

/** Makes the servers for HTTP and Ribbit. Every connection is counted, whichever port it came to. */
export function makeDoors({ serving, connections, limits, isShared }: DoorOptions): Doors {
  let server: http.Server | undefined;
  const app = fastify({
    rewriteUrl: ({ url = '/' }) => pathOf(url),
    clientErrorHandler: () => {},
    serverFactory: (handler) => {
      server = makeHttpServer(handler, limits, {
        onBegin: connections.setBusy,
        onEnd: ({ request }) => connections.setIdle(request.socket),
        isBusy: connections.isBusy,
        onRefused: () => {},
      });
      return server;
    },
  });
  answerPlainly(app, serving);
  const web = server as http.Server | undefined;
  if (web === undefined) throw new Error('no HTTP server was made');
  const [read] = web.listeners('connection') as ((socket: Socket) => void)[];
  const readHttp = (socket: Socket): void => read?.call(web, socket);
  const tell = (socket: Socket): void =>
    tellProtocol(socket, {
      withinMs: limits.requestMs,
      onHttp: () => readHttp(socket),
      onRibbit: () => readRibbit(socket, serving, { connections, limits }),
    });
  web.removeAllListeners('connection');
  web.on('connection', (socket: Socket) => {
    if (connections.add(socket)) (isShared ? tell : readHttp)(socket);
  });
  const ribbit = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (connections.add(socket)) tell(socket);
  });
  return { app, http: web, ribbit };
}

function readRibbit(
  socket: Socket,
  { answers, learnBuild }: Serving,
  { connections, limits }: Pick<DoorOptions, 'connections' | 'limits'>,
): void {
  answerRibbit(socket, {
    withinMs: limits.requestMs,
    async answer(line) {
      connections.setBusy(socket);
      const [, product] = /\/products\/([\w.-]{1,100})\//.exec(line) ?? [];
      if (product !== undefined && (await learnBuild?.(product))) answers.renew();
      return ribbitAnswer(answers, line);
    },
    onTurn: () => {},
  });
}

/** Short plain texts for what is not there and what went wrong; what that was, only who runs the server is told. */
function answerPlainly(app: FastifyInstance, { options: { onProgress } }: Serving): void {
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send(textOf(404)));
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = isNotFound(error) ? 404 : (error.statusCode ?? 500);
    if (status >= 500) onProgress?.({ type: 'note', text: `${request.method} ${request.url}: ${messageOf(error)}` });
    return reply.code(status).type('text/plain').send(textOf(status));
  });
}
