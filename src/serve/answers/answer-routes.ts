import type { FastifyInstance, FastifyReply } from 'fastify';
import { channelFolder } from '../../publish/answers/make-channels.ts';
import type { Serving } from '../serving.ts';

/**
 * Answers as the version services do, in every form that clients ask: `/PRODUCT/versions`, `cdns` and `bgdl`, the same below `/v2/products`, the
 * list of all products, and channels. What a store has nothing for (`blobs`, mostly `bgdl`) is not there, which clients take as they should.
 */
export function addAnswerRoutes(app: FastifyInstance, { answers, pull }: Serving): void {
  const send = (reply: FastifyReply, type: string, bytes: Uint8Array | undefined): unknown =>
    bytes === undefined ? reply.callNotFound() : reply.type(type).send(Buffer.from(bytes));
  for (const endpoint of ['versions', 'cdns', 'bgdl']) {
    for (const url of [`/:product/${endpoint}`, `/v2/products/:product/${endpoint}`]) {
      app.get<{ Params: { product: string } }>(url, async ({ params: { product } }, reply) => {
        await pull?.learnBuild(product);
        return send(reply, 'text/plain', answers.table(product, endpoint));
      });
    }
  }
  app.get('/v2/summary', async (_request, reply) => send(reply, 'text/plain', answers.summary()));
  app.get('/summary', async (_request, reply) => send(reply, 'application/json', answers.channels()));
  app.get<{ Params: { hash: string } }>(`/${channelFolder}/:aa/:bb/:hash`, async ({ url, params: { hash } }, reply) => {
    const path = `/${channelFolder}/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
    const object = url === path ? answers.channelObject(hash) : undefined;
    return send(reply, 'application/json', object);
  });
}
