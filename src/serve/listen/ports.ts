import type * as http from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { type FastifyError, type FastifyInstance, fastify } from 'fastify';
import { isNotFound, mayPass, messageOf } from '../../core/errors.ts';
import { ribbitAnswer } from '../answers/ribbit-answer.ts';
import { bodySizes, entryOf, teller, unreadable } from '../logs/tell-requests.ts';
import type { Serving } from '../serving.ts';
import type { Connections } from './connections.ts';
import { makeHttpServer, pathOf, textOf } from './http-server.ts';
import type { Limits } from './limits.ts';
import { answerRibbit, tellProtocol } from './ribbit.ts';

/** The servers behind the ports of one, before they listen. */
export interface Ports {
  /** Routes are added to it. */
  app: FastifyInstance;
  /** For a port of Ribbit alone, which answers HTTP as well: old clients ask so. */
  ribbit: Server;
}

/** What is served on the ports, and within which bounds. */
interface PortOptions {
  serving: Serving;
  connections: Connections;
  limits: Limits;
  /** True when the port of HTTP answers Ribbit, too. */
  isShared: boolean;
}

/** Makes the servers for HTTP and Ribbit. Every connection is counted, whichever port it came to. */
export function makePorts({ serving, connections, limits, isShared }: PortOptions): Ports {
  let server: http.Server | undefined;
  const tell = teller(serving);
  const app = fastify({
    rewriteUrl: ({ url = '/' }) => pathOf(url),
    clientErrorHandler: () => {},
    serverFactory: (handler) => {
      server = makeHttpServer(handler, limits, {
        onBegin: connections.setBusy,
        onEnd(exchange) {
          connections.setIdle(exchange.request.socket);
          tell(entryOf(exchange, sizeOf(exchange)));
        },
        isBusy: connections.isBusy,
        onRefused: (socket, status) => tell({ ...unreadable, address: socket.remoteAddress ?? '', status }),
      });
      return server;
    },
  });
  const sizeOf = bodySizes(app);
  answerPlainly(app, serving);
  const web = server as http.Server | undefined;
  if (web === undefined) throw new Error('no HTTP server was made');
  const [read] = web.listeners('connection') as ((socket: Socket) => void)[];
  const readHttp = (socket: Socket): void => read?.call(web, socket);
  const answer = (socket: Socket): void =>
    tellProtocol(socket, {
      withinMs: limits.requestMs,
      onHttp: () => readHttp(socket),
      onRibbit: () => readRibbit(socket, serving, { connections, limits }),
    });
  web.removeAllListeners('connection');
  web.on('connection', (socket: Socket) => {
    if (connections.add(socket)) (isShared ? answer : readHttp)(socket);
  });
  const ribbit = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (connections.add(socket)) answer(socket);
  });
  return { app, ribbit };
}

function readRibbit(
  socket: Socket,
  serving: Serving,
  { connections, limits }: Pick<PortOptions, 'connections' | 'limits'>,
): void {
  const { answers, pull } = serving;
  const { remoteAddress: address = '' } = socket;
  answerRibbit(socket, {
    withinMs: limits.requestMs,
    async answer(line) {
      const began = performance.now();
      connections.setBusy(socket);
      const tell = (status: number, bytes = 0): void => {
        const said = { method: 'RIBBIT', url: line, status, bytes };
        teller(serving)({ ...unreadable, ...said, address, ms: performance.now() - began });
      };
      const [, product] = /\/products\/([\w.-]{1,100})\//.exec(line) ?? [];
      try {
        if (product !== undefined) await pull?.learnBuild(product);
        const bytes = ribbitAnswer(answers, line);
        tell(bytes === undefined ? 404 : 200, bytes?.length);
        return bytes;
      } catch (error) {
        tell(tellTrouble(serving, `RIBBIT ${line}`, error));
        return undefined;
      }
    },
  });
}

/** Short plain texts for what is not there and what went wrong; what that was, only who runs the server is told. */
function answerPlainly(app: FastifyInstance, serving: Serving): void {
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send(textOf(404)));
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = tellTrouble(serving, `${request.method} ${request.url}`, error);
    return reply.code(status).type('text/plain').send(textOf(status));
  });
}

/** Tells whoever runs the server why a request could not be answered. @returns the status of its answer */
function tellTrouble({ options: { onProgress } }: Serving, request: string, error: unknown): number {
  const status = statusOf(error);
  if (status >= 500) onProgress?.({ type: 'note', text: `${request}: ${messageOf(error)}` });
  return status;
}

/** 502 says that the CDN cannot be asked, and 503 that this machine is the trouble: neither is "not there", after which nobody asks again. */
function statusOf(error: unknown): number {
  const own = (error as Partial<FastifyError> | undefined)?.statusCode;
  if (own !== undefined) return own;
  if (isNotFound(error)) return 404;
  if (mayPass(error)) return error.code.startsWith('E_NETWORK') ? 502 : 503;
  return 500;
}
