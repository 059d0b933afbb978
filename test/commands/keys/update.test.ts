import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { KeyUpdate } from '../../../src/app/keys/update-keys.ts';
import { conformancePath, describeConformance } from '../../support/conformance.ts';
import { freePort, httpServer, type Loopback } from '../../support/loopback.ts';
import { pakratJson, startPakrat } from '../../support/run-pakrat.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

const scratch = scratchFolder();
let server: Loopback | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** A list on a server that knows ETag and Last-Modified, and what it was asked. */
async function listServer(): Promise<{
  url: string;
  asked: IncomingMessage[];
  sent: number[];
  set(text: string, etag?: string): void;
}> {
  let list = '';
  let tag = '';
  const modified = 'Wed, 21 Oct 2026 07:28:00 GMT';
  const asked: IncomingMessage[] = [];
  const sent: number[] = [];
  const handler: RequestListener = (request, response) => {
    asked.push(request);
    const same = request.headers['if-none-match'] === tag;
    sent.push(same ? 304 : 200);
    if (same) response.writeHead(304).end();
    else response.writeHead(200, { etag: tag, 'last-modified': modified }).end(list);
  };
  server = await httpServer(handler);
  return {
    url: `http://${server.host}/keys.txt`,
    asked,
    sent,
    set(text, etag = `"${text.length}"`) {
      list = text;
      tag = etag;
    },
  };
}

const update = (...args: string[]): Promise<{ status: number | null; value: KeyUpdate }> =>
  pakratJson<KeyUpdate>(['keys', 'update', ...args]);
const names = ['0000000000000001', '00000000000000AB', '00000000000000CD'];
const line = (i: number, digit: string, extra = ''): string => `${names[i]} ${digit.repeat(32)}${extra}\n`;
/** Updates with the library. */
const library = (store: string, url: string): Promise<KeyUpdate> =>
  withPakrat({ store: scratch(store) }, (pakrat) => pakrat.keys.update({ url }));
const keyList = (store: string): Promise<unknown[]> =>
  withPakrat({ store }, (pakrat) => pakrat.keys.list({ show: true }));

describe('keys update', () => {
  test('new, changed and unchanged keys are told apart; a list that did not change is not sent again', async () => {
    const list = await listServer();
    const args = ['--url', list.url, '--store', scratch('a')];
    list.set(line(0, 'A') + line(1, 'B', ' 2019 wow  11.0'));
    const rest = { url: list.url, conflicts: [] };
    expect(await update(...args)).toEqual({
      status: 0,
      value: { ...rest, modified: true, read: 2, added: 2, changed: 0, unchanged: 0 },
    });
    expect(await keyList(scratch('a'))).toEqual([
      { name: '0000000000000001', key: 'a'.repeat(32), source: list.url },
      { name: '00000000000000ab', key: 'b'.repeat(32), source: list.url, extra: '2019 wow 11.0' },
    ]);

    expect(await library('a', list.url)).toEqual({
      ...rest,
      modified: false,
      read: 2,
      added: 0,
      changed: 0,
      unchanged: 2,
    });
    expect(list.sent).toEqual([200, 304]);
    expect(list.asked[1]!.headers['if-modified-since']).toBe('Wed, 21 Oct 2026 07:28:00 GMT');

    list.set(line(0, 'A') + line(1, 'B', ' 2026') + line(2, 'C'));
    expect(await library('a', list.url)).toMatchObject({
      modified: true,
      read: 3,
      added: 1,
      changed: 1,
      unchanged: 1,
    });
    expect((await keyList(scratch('a')))[1]).toMatchObject({ key: 'b'.repeat(32), extra: '2026' });
  });

  test('a key with another value is told each time and stays what it was, until --replace', async () => {
    const list = await listServer();
    const store = ['--store', scratch('b')];
    writeFileSync(scratch('mine.txt'), line(0, 'A'));
    await withPakrat({ store: scratch('b') }, (pakrat) => pakrat.keys.import([scratch('mine.txt')]));
    list.set(line(0, 'F') + line(1, 'B') + line(1, 'E'));
    const expected = {
      read: 2,
      added: 1,
      changed: 0,
      unchanged: 1,
      conflicts: [
        { name: '0000000000000001', held: 'aaaa…', offered: 'ffff…', source: 'mine.txt' },
        { name: '00000000000000ab', held: 'bbbb…', offered: 'eeee…', source: list.url },
      ],
    };
    expect(await library('b', list.url)).toMatchObject(expected);
    expect(await keyList(scratch('b'))).toMatchObject([
      { key: 'a'.repeat(32), source: 'mine.txt' },
      { key: 'b'.repeat(32), source: list.url },
    ]);
    const told = await startPakrat(['keys', 'update', '--url', list.url, ...store]).ended;
    expect(told.stderr).toContain(`asking ${list.url}`);
    expect(told.stdout).toContain('0000000000000001: the store has aaaa… from mine.txt, the list ffff…');

    const replaced = await update('--url', list.url, '--replace', ...store);
    expect(replaced.value).toMatchObject({ changed: 1, unchanged: 1 });
    expect((await keyList(scratch('b')))[0]).toMatchObject({ key: 'f'.repeat(32), source: list.url });
  });

  test('what is no list takes nothing: a page, an empty answer, an error, redirects in a circle', async () => {
    const store = ['--store', scratch('c')];
    let answer: RequestListener = (_, response) => response.end('<!DOCTYPE html><p>sign in</p>');
    server = await httpServer((request, response) => answer(request, response));
    const url = `http://user:secret@${server.host}/list`;
    const page = await update('--url', url, ...store);
    expect(page).toMatchObject({ status: 5, value: { error: { code: 'E_FORMAT' } } });
    const refused = (code: string) =>
      expect(library('c', url)).rejects.toMatchObject({ code: expect.stringMatching(`^${code}`) });
    answer = (_, response) => response.end(`${line(0, 'A')}hello\n`);
    await refused('E_FORMAT');
    answer = (_, response) => response.end('');
    await refused('E_FORMAT');
    answer = (_, response) => response.writeHead(304).end();
    await refused('E_NETWORK');
    answer = (_, response) => response.writeHead(302, { location: '/elsewhere' }).end();
    const { status, value } = await update('--url', url, ...store);
    expect(status).toBe(1);
    expect(JSON.stringify(value)).toContain(`http://${server.host}/list: more than 5 redirects`);
    expect(JSON.stringify(value)).not.toContain('secret');
    expect(await keyList(scratch('c'))).toEqual([]);
  });

  test('a redirect is followed, and an answer that is cut is gone on with', async () => {
    const list = Buffer.from(line(0, 'A') + line(1, 'B') + line(2, 'C'));
    const half = list.length >> 1;
    const asked: string[] = [];
    server = await httpServer(({ url, headers: { range } }, response) => {
      asked.push(`${url} ${range}`);
      const etag = '"1"';
      if (url === '/list') response.writeHead(302, { location: '/elsewhere' }).end();
      else if (range === undefined) {
        response.writeHead(200, { etag, 'content-length': list.length });
        response.write(list.subarray(0, half), () => response.destroy());
      } else {
        const rest = list.subarray(half);
        response.writeHead(206, { etag, 'content-range': `bytes ${half}-${list.length - 1}/${list.length}` }).end(rest);
      }
    });
    const url = `http://${server.host}/list`;
    expect(await library('moved', url)).toMatchObject({ url, modified: true, read: 3, added: 3 });
    expect(await keyList(scratch('moved'))).toMatchObject([{ source: url }, { source: url }, { source: url }]);
    expect(asked.filter((each) => each.startsWith('/elsewhere'))).toEqual([
      '/elsewhere undefined',
      `/elsewhere bytes=${half}-`,
    ]);
  });

  test('with an empty setting it says how to name one; a setting is one, and the default is not asked offline', async () => {
    const store = ['--store', scratch('d')];
    writeFileSync(scratch('none.json'), JSON.stringify({ keys: { url: '' } }));
    const empty = { env: { PAKRAT_CONFIG: scratch('none.json') } };
    const none = await pakratJson(['keys', 'update', ...store], empty);
    expect(none).toMatchObject({
      status: 2,
      value: { error: { code: 'E_USAGE', hint: expect.stringContaining('--url') } },
    });
    await expect(library('d', 'keys.txt')).rejects.toMatchObject({ code: 'E_USAGE' });
    const refused = await update(...store, '--offline');
    expect(refused).toMatchObject({ status: 2, value: { error: { code: 'E_USAGE' } } });
    const list = await listServer();
    list.set(line(0, 'A'));
    writeFileSync(scratch('config.json'), JSON.stringify({ keys: { url: list.url } }));
    const env = { PAKRAT_CONFIG: scratch('config.json') };
    const set = await pakratJson<KeyUpdate>(['keys', 'update', ...store], { env });
    expect(set).toMatchObject({ status: 0, value: { url: list.url, added: 1 } });
    const offline = withPakrat({ store: scratch('d'), offline: true }, (pakrat) =>
      pakrat.keys.update({ url: list.url }),
    );
    await expect(offline).rejects.toMatchObject({ code: 'E_USAGE' });
    const dead = library('d', `http://127.0.0.1:${await freePort()}/x`);
    await expect(dead).rejects.toMatchObject({ code: expect.stringMatching(/^E_NETWORK/) });
  });
});

describeConformance('keys update, the public list', () => {
  test('is read whole', async () => {
    const list = await listServer();
    list.set(readFileSync(conformancePath('tact', 'TACTKeys', 'WoW-first-100.txt'), 'utf8'));
    expect(await library('public', list.url)).toMatchObject({ read: 100, added: 100, conflicts: [] });
  });
});
