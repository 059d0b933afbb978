import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { packageRoot } from '../package-root.ts';
import { paths } from './links.ts';
import { pageHeaders } from './page.ts';

const files = [
  [paths.style, 'style.css', 'text/css; charset=utf-8'],
  [paths.script, 'script.js', 'text/javascript; charset=utf-8'],
  [paths.icon, 'icon.svg', 'image/svg+xml'],
] as const;

/** Serves the style and the script of the pages as they lie in `data/page`. */
export function addAssets(app: FastifyInstance): void {
  for (const [path, file, type] of files) {
    app.get(path, async (request, reply) => {
      const bytes = readFileSync(join(packageRoot(), 'data', 'page', file));
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
      reply.headers({ ...pageHeaders, 'cache-control': 'no-cache', etag }).type(type);
      return request.headers['if-none-match'] === etag ? reply.code(304).send() : bytes;
    });
  }
}
