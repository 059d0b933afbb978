import type { FastifyInstance } from 'fastify';
import type { Serving } from '../serving.ts';
import { findObject } from './find-object.ts';
import { sendObject } from './send-object.ts';

/** Serves the objects of the store under the paths that a CDN has for them. Whatever names none is not there. */
export function addObjectRoutes(app: FastifyInstance, { store }: Serving): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/*',
    handler: async (request, reply) => {
      const path = request.url.replace(/[?#].*$/s, '').slice(1);
      const found = findObject(store, path);
      if (found === undefined) return reply.callNotFound();
      return sendObject(request, reply, { store, ...found });
    },
  });
}
