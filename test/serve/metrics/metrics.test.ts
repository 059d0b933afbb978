import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Session } from '../../../src/app/session/session.ts';
import type { LogEntry } from '../../../src/serve/logs/log-line.ts';
import { type Server, startServer } from '../../../src/serve/server.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { sendRaw } from '../listen/raw.ts';

jest.setTimeout(30_000);
const scratch = scratchFolder();
const session = new Session({ store: scratch('store'), offline: true });
const entries: LogEntry[] = [];
let server: Server;

beforeAll(async () => {
  const { ledger } = await session.store({ create: true });
  ledger.addComplete(`tpr/game/data/ab/ab/${'ab'.repeat(16)}`, 1234);
  server = await startServer(session, { port: 0, ribbit: 0, onRequest: (entry) => void entries.push(entry) });
});
afterAll(async () => {
  await server.close();
  await session.close();
});

async function metrics(): Promise<string> {
  return (await fetch(`${server.url}/metrics`)).text();
}

test('health is told, and figures count what was asked, by a few kinds', async () => {
  expect(await (await fetch(`${server.url}/healthz`)).text()).toBe('ok\n');
  await fetch(`${server.url}/none/versions`);
  for (const path of ['a', 'b', 'c']) await fetch(`${server.url}/tpr/game/data/ab/ab/${path}`);
  await sendRaw(server.port, 'nonsense\r\n\r\n');
  await sendRaw(Number(server.ribbitUrl?.split(':').at(-1)), 'v1/products/none/versions\r\n');
  const text = await metrics();
  expect(text).toContain('pakrat_requests_total{kind="answer",status="404"} 1\n');
  expect(text).toContain('pakrat_requests_total{kind="object",status="404"} 3\n');
  expect(text).toContain('pakrat_requests_total{kind="ribbit",status="404"} 1\n');
  expect(text).toContain('pakrat_requests_total{kind="unreadable",status="400"} 1\n');
  expect(text).toContain('pakrat_store_held_bytes 1234\n');
  expect(text).toMatch(/^pakrat_connections [1-9]/m);
  expect(text).toMatch(/^pakrat_sent_bytes_total\{kind="watch"\} [1-9]/m);
});

test('each request is told once when it has ended, as it was asked', async () => {
  entries.length = 0;
  const text = await (await fetch(`${server.url}/summary?a=%22`, { headers: { 'user-agent': 'me' } })).text();
  await sendRaw(server.port, 'GET http://h/%e4 HTTP/1.1\r\nHost: h\r\n\r\n');
  const ribbit = Number(server.ribbitUrl?.split(':').at(-1));
  const said = await sendRaw(ribbit, 'v2/summary\r\n');
  expect(entries).toMatchObject([
    { method: 'GET', url: '/summary?a=%22', protocol: 'HTTP/1.1', status: 200, bytes: text.length, agent: 'me' },
    { method: 'GET', url: 'http://h/%e4', status: 400 },
    { method: 'RIBBIT', url: 'v2/summary', status: 200, bytes: said.length },
  ]);
  for (const { address } of entries) expect(address).toBe('127.0.0.1');
});
