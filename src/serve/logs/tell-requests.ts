import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Exchange } from '../listen/http-server.ts';
import type { Serving } from '../serving.ts';
import type { LogEntry } from './log-line.ts';

/** An entry before it has its time. */
type Told = Omit<LogEntry, 'time'>;

/** What is told of a request that could not be read. */
export const unreadable = { method: '', url: '', protocol: '', bytes: 0, ms: 0, agent: undefined };

/** Tells of requests to those who listen, and counts them. */
export function teller({ metrics, options }: Serving): (told: Told) => void {
  return (told) => {
    const entry = { time: Date.now(), ...told };
    metrics.count(entry);
    options.onRequest?.(entry);
  };
}

/** Tells the size of the body of an answer that has ended. */
export function bodySizes(app: FastifyInstance): (exchange: Exchange) => number {
  const sizes = new WeakMap<ServerResponse, number>();
  app.addHook('onSend', async (_request, reply, payload) => {
    const isBytes = typeof payload === 'string' || Buffer.isBuffer(payload);
    sizes.set(reply.raw, isBytes ? Buffer.byteLength(payload) : Number(reply.getHeader('content-length') ?? 0));
  });
  return ({ request, response, sent }) => {
    if (request.method === 'HEAD' || response.statusCode === 304) return 0;
    // Of an answer that was cut, the head is counted, too.
    if (!response.writableFinished) return sent;
    return sizes.get(response) ?? Number(response.getHeader('content-length') ?? 0);
  };
}

/** The entry of a request that has ended. */
export function entryOf({ request, url, address, status, ms }: Exchange, bytes: number): Told {
  const { method = '', httpVersion, headers } = request;
  return { address, method, url, protocol: `HTTP/${httpVersion}`, status, bytes, ms, agent: headers['user-agent'] };
}
