import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Session } from '../../src/app/session/session.ts';
import { type Server, startServer } from '../../src/serve/server.ts';
import { freePort } from '../support/loopback.ts';
import { describeNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* What docs/serve.md says of nginx before a server, with other ports. */

jest.setTimeout(60_000);
const scratch = scratchFolder();

describeNginx('the nginx of docs/serve.md', () => {
  const session = new Session({ store: scratch('store'), offline: true });
  let upstream: SyntheticCdn;
  let server: Server;
  let nginx: Nginx;

  beforeAll(async () => {
    upstream = await syntheticCdn();
    await withPakrat({ store: scratch('store'), patchUrl: upstream.url }, (pakrat) =>
      pakrat.sync('wow', { all: true }),
    );
    const port = await freePort();
    server = await startServer(session, { port: 0, public: `127.0.0.1:${port}` });
    const [, block = ''] = /```nginx\n(.*?)```/s.exec(readFileSync('docs/serve.md', 'utf8')) ?? [];
    const moved = block
      .replace('listen 80;', `listen 127.0.0.1:${port};`)
      .replace('127.0.0.1:8080', `127.0.0.1:${server.port}`);
    expect(moved).toContain(`proxy_pass http://127.0.0.1:${server.port};`);
    nginx = await startNginx({ folder: scratch(), port, server: moved });
  });
  afterAll(async () => {
    await nginx?.close();
    await server?.close();
    await session.close();
    await upstream?.close();
  });

  test('a store syncs whole through it', async () => {
    await withPakrat({ store: scratch('second'), patchUrl: nginx.url }, async (pakrat) => {
      expect((await pakrat.sync('wow', { all: true })).missing.entries).toBe(0);
      expect((await pakrat.verify()).bad).toEqual([]);
    });
  });

  test('the page is there, and figures are for this machine alone', async () => {
    expect((await fetch(`${nginx.url}/-/space`)).status).toBe(200);
    expect((await fetch(`${nginx.url}/metrics`)).status).toBe(403);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
  });
});
