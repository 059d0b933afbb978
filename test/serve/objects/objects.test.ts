import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Session } from '../../../src/app/session/session.ts';
import { decodeArchiveIndex } from '../../../src/formats/indices/archive-index.ts';
import { publishBuild } from '../../../src/publish/publish-build.ts';
import { type Server, startServer } from '../../../src/serve/server.ts';
import type { Store } from '../../../src/store/store.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const folder = scratch('store');
const session = new Session({ store: folder, offline: true });
let server: Server;
let store: Store;
/** An archive of which the middle entry was taken away, and its bytes as they were. */
let archive: string;
let whole: Buffer;
let gone: { start: number; end: number };

beforeAll(async () => {
  const out = scratch('cdn');
  const files = Array.from({ length: 9 }, (_, i) => ({
    name: `file${i}.bin`,
    fileDataId: i + 1,
    read: () => Buffer.from(Array.from({ length: 40_000 }, (__, at) => (at * at * (i + 3)) >> 3)),
  }));
  const place = { product: 'game', out, hosts: ['127.0.0.1:9'], regions: ['us'] };
  await publishBuild({ ...place, version: '1.0.1', buildId: 1, files });
  await withPakrat({ store: folder, offline: true }, (pakrat) => pakrat.import(out));
  store = await session.store({ create: false });
  archive = pathsOf(/\/data\/..\/..\/[0-9a-f]{32}$/).find((path) => pathsOf(/index$/).includes(`${path}.index`))!;
  whole = readFileSync(join(folder, archive));
  const entries = [...decodeArchiveIndex(readFileSync(join(folder, `${archive}.index`)))];
  const middle = entries.sort((a, b) => a.offset - b.offset)[entries.length >> 1]!;
  gone = { start: middle.offset, end: middle.offset + middle.size };
  store.files.withdraw([archive], () => store.ledger.removeSpans(archive, [{ start: gone.start, end: gone.end }]));
  server = await startServer(session, { port: 0 });
});
afterAll(async () => {
  await server.close();
  await session.close();
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${server.url}/${path}`, { method, headers });
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

test('of an archive that is held in part, every range that is held is answered with its size, and no other', async () => {
  const held = await get(archive, { range: `bytes=10-${gone.start - 1}` });
  expect([held.status, held.headers.get('content-range')]).toEqual([206, `bytes 10-${gone.start - 1}/${whole.length}`]);
  expect(await bytesOf(held)).toEqual(whole.subarray(10, gone.start));
  expect((await get(archive)).status).toBe(404);
  expect((await get(archive, {}, 'HEAD')).status).toBe(404);
  expect((await get(archive, { range: `bytes=10-${gone.start}` })).status).toBe(404);
  expect((await get(archive, { range: `bytes=${gone.end - 1}-${gone.end + 5}` })).status).toBe(404);
});

test('the end of an archive: a suffix, a byte too many, and what lies behind it', async () => {
  const end = whole.length;
  const suffix = await get(archive, { range: 'bytes=-7' });
  expect([suffix.status, await bytesOf(suffix)]).toEqual([206, whole.subarray(end - 7)]);
  const tooLong = await get(archive, { range: `bytes=${end - 9}-${end}` });
  expect(tooLong.headers.get('content-range')).toBe(`bytes ${end - 9}-${end - 1}/${end}`);
  expect(tooLong.headers.get('content-length')).toBe('9');
  expect(await bytesOf(tooLong)).toEqual(whole.subarray(end - 9));
  for (const range of [`bytes=${end}-`, 'bytes=-0', 'bytes=0-1,4-5', 'bytes=5-2']) {
    const refused = await get(archive, { range });
    expect([refused.status, refused.headers.get('content-range')]).toEqual([416, `bytes */${end}`]);
  }
});

test('an answer has a length, one name for the content, and nothing for who has it', async () => {
  const index = `${archive}.index`;
  const answer = await get(index);
  expect(answer.headers.get('transfer-encoding')).toBeNull();
  expect(Number(answer.headers.get('content-length'))).toBe((await bytesOf(answer)).length);
  const etag = answer.headers.get('etag')!;
  expect(etag).toContain(archive.slice(-32));
  expect((await get(archive, { range: 'bytes=0-1' })).headers.get('etag')).not.toBe(etag);
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
    expect((await get(index, { 'if-none-match': known })).status).toBe(304);
  expect((await get(index, { 'if-none-match': '"other"' })).status).toBe(200);
  // Another content than this: all of it, which is not held.
  expect((await get(archive, { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(404);
  expect((await get(archive, { range: 'bytes=0-1', 'if-range': 'Sat, 01 Jan 2022 00:00:00 GMT' })).status).toBe(404);
});

test('a loose object that is held in part has the size that the list of loose objects gives', async () => {
  const loose = pathsOf(/\/data\/..\/..\/[0-9a-f]{32}$/).find(
    (path) => !pathsOf(/index$/).includes(`${path}.index`) && !path.includes('/configs/'),
  );
  if (loose === undefined) throw new Error('the build has no loose object');
  const bytes = readFileSync(join(folder, loose));
  store.files.withdraw([loose], () => store.ledger.removeSpans(loose, [{ start: 20, end: bytes.length }]));
  const answer = await get(loose, { range: 'bytes=4-19' });
  expect([answer.status, await bytesOf(answer)]).toEqual([206, bytes.subarray(4, 20)]);
  expect(answer.headers.get('content-range')).toBe(`bytes 4-19/${bytes.length}`);
  expect((await get(loose)).status).toBe(404);
});

test('bytes that the ledger calls held and the disk does not have are not sent', async () => {
  const [config] = pathsOf(/\/config\/..\/..\/[0-9a-f]{32}$/);
  const size = store.ledger.completeSize(config!)!;
  store.ledger.addComplete(config!, size + 100);
  const answer = await get(config!);
  await expect(bytesOf(answer)).rejects.toThrow();
  store.ledger.addComplete(config!, size);
  store.ledger.addComplete(config!.replace(/.{32}$/, 'f'.repeat(32)), 10);
  expect((await get(config!.replace(/.{32}$/, 'f'.repeat(32)))).status).toBe(404);
});

function pathsOf(pattern: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => pattern.test(name));
}
