import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { PakratError } from '../../../core/errors.ts';
import type { Looking } from '../looking.ts';
import { fetchingNow } from '../views/fetching-view.ts';

/** Readers at a time, how often is looked, and after how many looks without news a sign of life is sent. */
const [mostReaders, everyMs, quietLooks] = [64, 1000, 15];

let readers = 0;

/** Sends what is fetched as server-sent events, each time that it is something else. @throws E_USAGE for one reader too many */
export async function sendEvents(reply: FastifyReply, looking: Looking): Promise<FastifyReply> {
  if (readers >= mostReaders) throw new PakratError('E_USAGE', 'too many look at this at once');
  readers += 1;
  const ended = new AbortController();
  const signal = AbortSignal.any([looking.signal, ended.signal]);
  const stream = Readable.from(events(looking, signal), { objectMode: false });
  stream.once('close', () => {
    readers -= 1;
    ended.abort();
  });
  reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }).type('text/event-stream');
  return reply.send(stream);
}

async function* events(looking: Looking, signal: AbortSignal): AsyncGenerator<string> {
  let last: string | undefined;
  let quiet = 0;
  while (!signal.aborted) {
    const now = fetchingNow(looking);
    quiet += 1;
    if (now !== last) yield `${now.replace(/^/gm, 'data: ')}\n\n`;
    else if (quiet >= quietLooks) yield ': still here\n\n';
    if (now !== last || quiet >= quietLooks) quiet = 0;
    last = now;
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}
