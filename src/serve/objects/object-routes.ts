import type { FastifyInstance } from 'fastify';
import type { Serving } from '../serving.ts';
import { findObject } from './find-object.ts';
import { NamedObjects } from './named-objects.ts';
import { sendObject } from './send-object.ts';

/** Serves the objects of the store under the paths that a CDN has for them. Whatever names none is not there. */
export function addObjectRoutes(app: FastifyInstance, { store, pull }: Serving): void {
  const held = new NamedObjects(store, async (_, name) => store.readObject(name));
  const looseSize = async (path: string): Promise<number | undefined> => (await held.find(path))?.size;
  app.route({
    method: ['GET', 'HEAD'],
    url: '/*',
    handler: async (request, reply) => {
      const path = request.url.replace(/[?#].*$/s, '').slice(1);
      const found = (await findObject(store, path, looseSize)) ?? (await pull?.find(path));
      if (found === undefined) return reply.callNotFound();
      return sendObject(request, reply, { store, ...found, bringing: pull?.bringing(path) });
    },
  });
}
