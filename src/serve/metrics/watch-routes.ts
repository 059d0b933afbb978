import type { FastifyInstance } from 'fastify';
import { isPakratError, resultUnless } from '../../core/errors.ts';
import type { Serving } from '../serving.ts';

/** For those who watch over a server: `/metrics` for Prometheus, and `/healthz`, which is 503 while the ledger cannot be read. */
export function addWatchRoutes(app: FastifyInstance, { metrics, store }: Serving): void {
  const { registry } = metrics;
  app.get('/metrics', async (_request, reply) =>
    reply.type(registry.contentType).send(Buffer.from(await registry.metrics())),
  );
  app.get('/healthz', async (_request, reply) => {
    const read = (): string => {
      store.ledger.setting('');
      return 'ok\n';
    };
    const text = resultUnless(isPakratError, read);
    return reply
      .code(text === undefined ? 503 : 200)
      .type('text/plain')
      .send(text ?? 'the ledger cannot be read\n');
  });
}
