import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Session } from '../../src/app/session/session.ts';
import { publishBuild } from '../../src/publish/publish-build.ts';
import { type Server, startServer } from '../../src/serve/server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const store = scratch('store');
const session = new Session({ store, offline: true });
const files = ['a', 'b', 'c'].map((letter, i) => ({
  name: `${letter}.txt`,
  fileDataId: i + 1,
  read: () => Buffer.from(letter.repeat(5_000)),
}));
let server: Server;

beforeAll(async () => {
  const out = scratch('cdn');
  const place = { product: 'game', out, hosts: ['127.0.0.1:9'], regions: ['us'] };
  await publishBuild({ ...place, version: '1.0.1', buildId: 1, files });
  await withPakrat({ store, offline: true }, (pakrat) => pakrat.import(out));
  server = await startServer(session, { port: 0 });
});
afterAll(async () => {
  await server.close();
  await session.close();
});

test('a second store syncs all of it from the server, and every file is right', async () => {
  await withPakrat({ store: scratch('second'), patchUrl: server.url }, async (pakrat) => {
    const report = await pakrat.sync('game', { all: true });
    expect(report.missing.entries).toBe(0);
    expect((await pakrat.verify()).bad).toEqual([]);
    await pakrat.extract('game', { to: scratch('out') });
    for (const { name, read } of files) expect(readFileSync(join(scratch('out'), name))).toEqual(read());
  });
});

test('an object is answered whole, in part, by its head alone, and not again to who has it', async () => {
  const path = dataFile();
  const whole = readFileSync(join(store, path));
  const get = (headers: Record<string, string>, method = 'GET') => fetch(`${server.url}/${path}`, { method, headers });
  const answer = await get({});
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(whole);
  const etag = answer.headers.get('etag')!;
  const part = await get({ range: 'bytes=2-5', 'if-range': etag });
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 2-5/${whole.length}`]);
  expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(2, 6));
  expect((await get({ range: 'bytes=2-5', 'if-range': '"other"' })).status).toBe(200);
  const head = await get({}, 'HEAD');
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(whole.length)]);
  expect((await get({ 'if-none-match': etag })).status).toBe(304);
  expect((await get({ range: `bytes=${whole.length}-` })).status).toBe(416);
  expect((await get({}, 'POST')).status).toBe(405);
});

test('nothing else of the store is there', async () => {
  for (const path of ['ledger.db', 'history.jsonl', '..%2f..%2fetc/passwd', 'tmp/x', 'tpr/game/config'])
    expect((await fetch(`${server.url}/${path}`)).status).toBe(404);
});

function dataFile(): string {
  const found = readdirSync(store, { recursive: true, encoding: 'utf8' });
  return found.find((name) => /\/data\/..\/..\/[0-9a-f]{32}$/.test(name))!;
}
