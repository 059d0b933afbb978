import { afterAll, expect, test } from '@jest/globals';
import { Session } from '../../src/app/session/session.ts';
import { type LogEntry, type Server, startServer } from '../../src/serve/door.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
let server: Server | undefined;
afterAll(() => server?.close());

test('a program serves a store by its folder, and hears of each request', async () => {
  const session = new Session({ store: scratch('store'), offline: true });
  await session.store({ create: true });
  await session.close();
  const seen: LogEntry[] = [];
  server = await startServer({ store: scratch('store'), port: 0, onRequest: (entry) => void seen.push(entry) });
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  await server.close();
  expect(seen.map(({ url }) => url)).toEqual(['/healthz']);
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
});

test('what cannot be served is told as an error with a code', async () => {
  await expect(startServer({ store: scratch('none'), port: 0 })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await expect(startServer({ store: scratch('store'), region: 'moon' })).rejects.toMatchObject({ code: 'E_USAGE' });
  await expect(startServer({ store: scratch('store'), public: 'http://x' })).rejects.toMatchObject({ code: 'E_USAGE' });
});
