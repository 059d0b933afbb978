import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ListfileIndex } from '../../../src/builds/listfile/listfile-index.ts';
import type { ListfileUpdate } from '../../../src/fetch/lists/update-listfile.ts';
import { storeLayout } from '../../../src/store/layout.ts';
import { httpServer, type Loopback } from '../../support/loopback.ts';
import { pakratJson, startPakrat } from '../../support/run-pakrat.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
let number = 0;
let store: string;
let server: Loopback;
let asked: IncomingMessage[];
/** How the next requests are answered: the list, what its version is called, and after how many bytes the connection is cut. */
let list: { text: string; tag: string; cut: number; type: string };
let url: string;

const serve: RequestListener = (request, response) => {
  asked.push(request);
  const { text, tag, cut, type } = list;
  if (request.headers['if-none-match'] === tag) return void response.writeHead(304).end();
  const bytes = Buffer.from(text);
  const from = request.headers['if-range'] === tag ? Number(/\d+/.exec(request.headers.range ?? '0')![0]) : 0;
  const head = { etag: tag, 'content-type': type, 'content-length': bytes.length - from };
  const range = { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
  response.writeHead(from > 0 ? 206 : 200, from > 0 ? { ...head, ...range } : head);
  if (bytes.length - from <= cut) response.end(bytes.subarray(from));
  else if (cut > 0) response.write(bytes.subarray(from, from + cut), () => setTimeout(() => response.destroy(), 50));
  else setTimeout(() => response.destroy(), 50);
};

beforeEach(async () => {
  number += 1;
  store = scratch(`store${number}`);
  asked = [];
  list = { text: '', tag: '"1"', cut: Number.POSITIVE_INFINITY, type: 'text/csv' };
  server = await httpServer(serve);
  url = `http://${server.host}/names.csv`;
});
afterEach(() => server.close());

type Session = NonNullable<Parameters<typeof withPakrat>[0]>;
type Answer = { status: number | null; value: ListfileUpdate & { error?: { code: string; hint?: string } } };
/** Updates with the program. */
const run = (...more: string[]): Promise<Answer> =>
  pakratJson(['listfile', 'update', '--url', url, '--store', store, ...more]);
/** Updates with the library. */
const update = (session?: Session): Promise<ListfileUpdate> =>
  withPakrat({ store, ...session }, (pakrat) => pakrat.listfile.update({ url }));
const set = (text: string, tag: string): void => {
  list = { ...list, text, tag };
};
const names = async (): Promise<Record<number, string>> => {
  const index = await ListfileIndex.open(storeLayout(store));
  const all = Object.fromEntries(Array.from(index?.names() ?? [], ({ id, name }) => [id, name]));
  index?.close();
  return all;
};
const many = (count: number): string =>
  Array.from({ length: count }, (_, i) => `${i};world/maps/zone/tile_${i}.adt\n`).join('');

/** Gives up sooner than usual. */
const hasty: Session = { settings: { network: { attemptsPerHost: 2 } } };

describe('listfile update', () => {
  test('added, changed and removed names are counted; a list that did not change is not sent again', async () => {
    set('1;a.blp\n2;b.blp\n3;c.blp\n', '"1"');
    const same = { url, ids: 3 };
    expect(await run()).toEqual({
      status: 0,
      value: { ...same, modified: true, bytes: 24, rows: 3, added: 3, changed: 0, removed: 0 },
    });
    expect(await update()).toEqual({
      ...same,
      modified: false,
      bytes: 0,
      rows: 3,
      added: 0,
      changed: 0,
      removed: 0,
    });
    set('2;bb.blp\n3;c.blp\n4;d.blp\n5;e.blp\n', '"2"');
    expect(await update()).toMatchObject({ modified: true, rows: 4, ids: 4, added: 2, changed: 1, removed: 1 });
    expect(await names()).toEqual({ 2: 'bb.blp', 3: 'c.blp', 4: 'd.blp', 5: 'e.blp' });
    set('2;bb.blp\n', '"3"');
    const { stdout } = await startPakrat(['listfile', 'update', '--url', url, '--store', store, '--quiet']).ended;
    expect(stdout).toContain('0 new, 0 changed, 3 removed');
  });

  test('a download that is cut leaves the names as they are, and is gone on with the next time', async () => {
    set('1;a.blp\n', '"1"');
    await update();
    set(many(20_000), '"2"');
    list.cut = 300_000;
    const first = update(hasty).catch((error: unknown) => error);
    while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    list.cut = 0;
    expect(await first).toMatchObject({ code: expect.stringMatching(/^E_NETWORK/) });
    expect(await names()).toEqual({ 1: 'a.blp' });

    const before = asked.length;
    list.cut = Number.POSITIVE_INFINITY;
    const value = await update();
    expect(asked.slice(before).map(({ headers }) => headers.range)).toEqual(['bytes=300000-']);
    expect(value).toMatchObject({ rows: 20_000, ids: 20_000, bytes: Buffer.byteLength(list.text) - 300_000 });
    expect(Object.keys(await names())).toHaveLength(20_000);
    expect(readdirSync(storeLayout(store).temporary)).toEqual([]);
  });

  test('a list that changed while it was cut is fetched anew', async () => {
    set(many(20_000), '"1"');
    list.cut = 300_000;
    const first = update(hasty).catch((error: unknown) => error);
    while (asked.length < 1) await new Promise((resolve) => setTimeout(resolve, 10));
    list.cut = 0;
    expect(await first).toMatchObject({ code: expect.stringMatching(/^E_NETWORK/) });
    list.cut = Number.POSITIVE_INFINITY;
    set('7;seven.blp\n', '"2"');
    expect(await update()).toMatchObject({ rows: 1, ids: 1 });
    expect(await names()).toEqual({ 7: 'seven.blp' });
  });

  test.each([
    ['a web page', '<html>\nnot here\n</html>\n', 'text/plain'],
    ['a web page that says so', '1;a.blp\n', 'text/html; charset=utf-8'],
    ['an empty body', '', 'text/csv'],
    ['bytes', '1;x.blp\n\u0000\u0000', 'text/csv'],
  ])('%s instead of a list changes nothing, and is asked for again', async (_, text, type) => {
    set('1;a.blp\n', '"1"');
    await update();
    set(text, '"2"');
    list.type = type;
    await expect(update()).rejects.toMatchObject({ code: 'E_FORMAT' });
    expect(await names()).toEqual({ 1: 'a.blp' });
    set('1;b.blp\n', '"2"');
    list.type = 'text/csv';
    expect(await update()).toMatchObject({ modified: true, changed: 1 });
  });

  test('so it is for the program, which exits with 5', async () => {
    set('<html>\nnot here\n</html>\n', '"1"');
    expect(await run()).toMatchObject({ status: 5, value: { error: { code: 'E_FORMAT' } } });
  });

  test('the list of the settings is taken; with an empty one, and offline, it is a mistake', async () => {
    writeFileSync(scratch('none.json'), JSON.stringify({ listfile: { url: '' } }));
    const empty = { env: { PAKRAT_CONFIG: scratch('none.json') } };
    const none = await pakratJson<Answer['value']>(['listfile', 'update', '--store', store], empty);
    expect(none).toMatchObject({
      status: 2,
      value: { error: { code: 'E_USAGE', hint: expect.stringContaining('--url') } },
    });
    const mistake = { code: 'E_USAGE' };
    await expect(update({ offline: true })).rejects.toMatchObject(mistake);
    const file = withPakrat({ store }, (pakrat) => pakrat.listfile.update({ url: 'file:///x' }));
    await expect(file).rejects.toMatchObject(mistake);
    expect(existsSync(store)).toBe(false);
    set('1;a.blp\n', '"1"');
    writeFileSync(scratch('mine.json'), JSON.stringify({ listfile: { url } }));
    const env = { PAKRAT_CONFIG: scratch('mine.json') };
    const taken = await pakratJson<ListfileUpdate>(['listfile', 'update', '--store', store], { env });
    expect(taken).toMatchObject({ status: 0, value: { rows: 1 } });
  });

  test('names that were damaged meanwhile are fetched again, and what only they had is told to be gone', async () => {
    writeFileSync(scratch('hand.csv'), '9;hand.blp\n');
    await withPakrat({ store }, (pakrat) => pakrat.listfile.import(scratch('hand.csv')));
    set(many(200), '"1"');
    expect(await update()).toMatchObject({ modified: true, ids: 200 });
    const folder = join(store, 'names');
    const text = join(folder, readdirSync(folder).find((name) => name.endsWith('.txt'))!);
    const bytes = readFileSync(text);
    bytes[4200]! ^= 1;
    writeFileSync(text, bytes);
    const { status, stderr } = await startPakrat(['listfile', 'update', '--url', url, '--store', store]).ended;
    expect([status, stderr]).toEqual([0, expect.stringContaining('was damaged')]);
    expect(stderr).toContain(`asking ${url}`);
    expect(Object.keys(await names())).toHaveLength(200);
    expect(await update()).toMatchObject({ modified: false });
  });
});
