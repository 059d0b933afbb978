import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import type { Serving } from '../serving.ts';

/** The page for people: what the store holds. Its views lie below `/-/`, which no product and no CDN path is called. */
export function addPageRoutes(app: FastifyInstance, { store }: Serving): void {
  app.get('/', async (_request, reply) => {
    const rows = store.ledger.builds();
    reply.type('text/html; charset=utf-8');
    return html`<!doctype html>
      <html lang="en">
        <title>pakrat</title>
        <h1>pakrat</h1>
        <ul>
          !${rows.map(({ product, name }) => html`<li>${product} ${name}</li>`)}
        </ul>
      </html>`;
  });
}
