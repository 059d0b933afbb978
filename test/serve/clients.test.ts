import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Session } from '../../src/app/session/session.ts';
import { sha256 } from '../../src/core/hash.ts';
import { decodeBpsv } from '../../src/formats/services/bpsv.ts';
import type { Pakrat } from '../../src/pakrat.ts';
import { publishBuild } from '../../src/publish/publish-build.ts';
import { type Server, startServer } from '../../src/serve/server.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';
import { parseAnswer, sendRaw } from './listen/raw.ts';

/* The requests of readers that are not ours, byte for byte, and what each of them needs of the answer. */

jest.setTimeout(60_000);
const scratch = scratchFolder();
const cdn = scratch('cdn');
const files = ['a', 'b'].map((letter, i) => ({
  name: `${letter}.txt`,
  fileDataId: i + 1,
  read: () => Buffer.from(letter.repeat(5_000)),
}));
let upstream: StaticServer;
let session: Session;
let server: Server;
let port: number;

beforeAll(async () => {
  for (const product of ['game', 'other']) {
    const place = { product, out: cdn, hosts: ['127.0.0.1:9'], regions: ['us'] };
    await publishBuild({ ...place, version: '1.0.1', buildId: 1, files });
  }
  upstream = await serveFolder(cdn);
});
afterAll(() => upstream.close());

/** The stores that clients may find, and the regions of which the server knows for a product. */
const stores: [string, { regions: number; fill: (store: string) => Promise<unknown>; isPulling: boolean }][] = [
  [
    'a store into which a published folder was imported',
    {
      regions: 5,
      fill: (store) => withPakrat({ store, offline: true }, (pakrat) => pakrat.import(cdn)),
      isPulling: false,
    },
  ],
  [
    'a store that is full',
    {
      regions: 1,
      fill: (store) => withUpstream(store, (pakrat) => pakrat.sync(['game', 'other'], { all: true })),
      isPulling: false,
    },
  ],
  [
    'a store that has a part and fetches the rest',
    {
      regions: 1,
      fill: (store) => withUpstream(store, (pakrat) => pakrat.sync('game', { include: ['a.txt'] })),
      isPulling: true,
    },
  ],
  ['a store that is empty and fetches all', { regions: 1, fill: async () => {}, isPulling: true }],
];

function withUpstream(store: string, work: (pakrat: Pakrat) => Promise<unknown>): Promise<unknown> {
  return withPakrat({ store, patchUrl: upstream.url, cdnHost: upstream.url }, work);
}

let lastFree = 0;
/** HTTP and Ribbit on one port need its number beforehand. */
async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const probe = createServer();
  await new Promise<void>((resolve) => void probe.listen(0, '127.0.0.1', resolve));
  lastFree = (probe.address() as { port: number }).port;
  await new Promise((resolve) => void probe.close(resolve));
  return lastFree;
}

const end = 'Connection: close\r\n\r\n';

/** An answer that every reader can use: HTTP/1.1, exactly 200, with its length, in one piece. */
function expectWhole(text: string): string {
  const { line, headers, body } = parseAnswer(text);
  expect(line).toBe('HTTP/1.1 200 OK');
  expect(headers.get('content-length')).toBe(String(body.length));
  expect(headers.has('transfer-encoding')).toBe(false);
  return body;
}

/** The path and the bytes of an object of the CDN whose path matches. */
function objectLike(pattern: RegExp): { path: string; bytes: string } {
  const path = readdirSync(cdn, { recursive: true, encoding: 'utf8' }).find((name) => pattern.test(name)) ?? '';
  return { path, bytes: readFileSync(join(cdn, path), 'latin1') };
}

const archive = (): { path: string; bytes: string } => objectLike(/game\/data\/..\/..\/[0-9a-f]{32}$/);

describe.each(stores)('%s', (name, { regions, fill, isPulling }) => {
  beforeAll(async () => {
    const store = scratch(name.replaceAll(' ', '-'));
    await fill(store);
    session = new Session({ store, offline: !isPulling, patchUrl: upstream.url, cdnHost: upstream.url });
    server = await startServer(session, { port: await freePort(), ribbit: lastFree, pullThrough: isPulling });
    ({ port } = server);
    // A product is one that the server knows of once somebody asked for it.
    for (const product of ['game', 'other']) await fetch(`${server.url}/${product}/versions`);
  });
  afterAll(async () => {
    await server.close();
    await session.close();
  });

  test('CascLib: tables over HTTP, then whole objects over a kept connection, with a host without a port', async () => {
    for (const base of ['/game', '/v2/products/game']) {
      for (const name of ['versions', 'cdns']) {
        const request = `GET ${base}/${name} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;
        const { rows, seqn } = decodeBpsv(Buffer.from(expectWhole(await sendRaw(port, request))));
        expect([rows.length, (seqn ?? 0) > 0]).toEqual([regions, true]);
        if (name === 'cdns') expect(rows[0]?.Hosts).toBe(`127.0.0.1:${port}`);
      }
    }
    const { path, bytes } = archive();
    const index = objectLike(/game\/data\/..\/..\/[0-9a-f]{32}\.index$/);
    const ask = (one: string, more: string): string => `GET /${one} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}`;
    const text = await sendRaw(port, ask(index.path, 'Connection: Keep-Alive\r\n\r\n') + ask(path, end));
    const second = text.indexOf('HTTP/1.1', 9);
    expect(expectWhole(text.slice(0, second))).toBe(index.bytes);
    expect(expectWhole(text.slice(second))).toBe(bytes);
  });

  test('CascLib and keg: Ribbit v1, in MIME, whose last line is the SHA-256 of all before it and ends in CRLF', async () => {
    for (const subject of ['products/game/versions', 'products/game/cdns', 'summary']) {
      const text = await sendRaw(port, `v1/${subject}\r\n`);
      const [, message = '', checksum] = /^(MIME-Version: 1\.0\r\n.*)Checksum: ([0-9a-f]{64})\r\n$/s.exec(text) ?? [];
      expect(Buffer.from(sha256(Buffer.from(message, 'latin1'))).toString('hex')).toBe(checksum);
      expect(message).toContain(`Content-Disposition: ${subject.split('/').at(-1)}\r\n`);
    }
  });

  test('Ribbit v2 gives the plain table, the same as HTTP', async () => {
    for (const name of ['versions', 'cdns']) {
      const plain = await sendRaw(port, `v2/products/game/${name}\r\n`);
      expect(plain).toBe(await (await fetch(`${server.url}/game/${name}`)).text());
    }
    const summary = await sendRaw(port, 'v2/summary\r\n');
    expect(summary).toBe(await (await fetch(`${server.url}/v2/summary`)).text());
    expect(decodeBpsv(Buffer.from(summary)).rows.map(({ Product }) => Product)).toEqual([
      'game',
      'game',
      'other',
      'other',
    ]);
  });

  test('who asks Ribbit for what there is not gets no byte', async () => {
    for (const line of [
      'v1/products/none/versions',
      'v2/products/none/cdns',
      'v1/products/game/bgdl',
      'v1/',
      'v3/summary',
      'v1/products/../x',
    ])
      expect(await sendRaw(port, `${line}\r\n`)).toBe('');
  });

  test('keg: what there is nothing of is 404, and the product config is there', async () => {
    for (const name of ['bgdl', 'blobs', 'blob/game', 'blob/install']) {
      const request = `GET /game/${name} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: python-requests/2.28.1\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\n${end}`;
      expect(parseAnswer(await sendRaw(port, request)).line).toBe('HTTP/1.1 404 Not Found');
    }
    const versions = decodeBpsv(Buffer.from(await (await fetch(`${server.url}/game/versions`)).text())).rows[0];
    const cdns = decodeBpsv(Buffer.from(await (await fetch(`${server.url}/game/cdns`)).text())).rows[0];
    const hash = versions?.ProductConfig ?? '';
    const path = `${cdns?.ConfigPath}/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
    expect(JSON.parse(expectWhole(await sendRaw(port, `GET /${path} HTTP/1.1\r\nHost: h\r\n${end}`)))).toHaveProperty(
      'all',
    );
  });

  test('wow.export: ranges of an archive, and configs that begin with a line of their own', async () => {
    const { path, bytes } = archive();
    const request = `GET /${path} HTTP/1.1\r\nRange: bytes=3-11\r\nUser-Agent: wow.export (0.2.7)\r\nHost: 127.0.0.1:${port}\r\n${end}`;
    const { line, headers, body } = parseAnswer(await sendRaw(port, request));
    expect([line, body]).toEqual(['HTTP/1.1 206 Partial Content', bytes.slice(3, 12)]);
    expect([headers.get('content-length'), headers.get('content-range')]).toEqual(['9', `bytes 3-11/${bytes.length}`]);
    const config =
      decodeBpsv(Buffer.from(await (await fetch(`${server.url}/game/versions`)).text())).rows[0]?.BuildConfig ?? '';
    const url = `${server.url}/tpr/game/config/${config.slice(0, 2)}/${config.slice(2, 4)}/${config}`;
    expect(await (await fetch(url)).text()).toMatch(/^# /);
  });

  test('jybp/casc: through a proxy, in absolute form, one byte past the end', async () => {
    const host = 'us.patch.battle.net:1119';
    const head = 'User-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n';
    const request = `GET http://${host}/game/versions HTTP/1.1\r\nHost: ${host}\r\n${head}${end}`;
    expect(decodeBpsv(Buffer.from(expectWhole(await sendRaw(port, request)))).rows).toHaveLength(regions);
    const { path, bytes } = archive();
    const past = `GET http://127.0.0.1:${port}/${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nRange: bytes=${bytes.length - 4}-${bytes.length}\r\n${head}${end}`;
    const { status, headers, body } = parseAnswer(await sendRaw(port, past));
    expect([status, body, headers.get('content-length')]).toEqual([206, bytes.slice(-4), '4']);
  });

  test('erorus/casc: the older table over /v2, the column Servers, ranges on a kept connection', async () => {
    const cdns = await sendRaw(
      port,
      `GET /v2/products/game/cdns HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: */*\r\n${end}`,
    );
    expect(decodeBpsv(Buffer.from(expectWhole(cdns))).rows[0]?.Servers).toBe(`http://127.0.0.1:${port}/?maxhosts=4`);
    const { path, bytes } = archive();
    const range = (span: string, more: string): string =>
      `GET /${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nRange: bytes=${span}\r\n${more}`;
    const text = await sendRaw(port, range('0-3', '\r\n') + range('4-9', end));
    const second = text.indexOf('HTTP/1.1', 9);
    expect([text.slice(0, second), text.slice(second)].map((one) => parseAnswer(one).body)).toEqual([
      bytes.slice(0, 4),
      bytes.slice(4, 10),
    ]);
  });

  test('HTTP/1.0 gets an answer with its length and the end of the connection, and HEAD the head alone', async () => {
    const old = await sendRaw(port, 'GET /game/versions HTTP/1.0\r\n\r\n');
    expect(decodeBpsv(Buffer.from(expectWhole(old))).rows).toHaveLength(regions);
    const { status, headers, body } = parseAnswer(
      await sendRaw(port, `HEAD /game/versions HTTP/1.1\r\nHost: h\r\n${end}`),
    );
    expect([status, headers.get('content-length') === '0', body]).toEqual([200, false, '']);
  });

  test('a Host header changes nothing of what cdns says', async () => {
    const text = await sendRaw(
      port,
      `GET /game/cdns HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n${end}`,
    );
    expect(text).not.toContain('evil');
  });

  test.each(['http://', 'channels+http://', 'ribbit://', 'v2'])(
    'a second store syncs whole over %s',
    async (scheme) => {
      const patchUrl = scheme === 'v2' ? `${server.url}/v2/products` : `${scheme}127.0.0.1:${port}`;
      await withPakrat(
        { store: scratch(`second-${scheme.replace(/\W/g, '')}-of-${name.replaceAll(' ', '-')}`), patchUrl },
        async (pakrat) => {
          for (const product of ['game', 'other']) {
            const report = await pakrat.sync(product, { all: true });
            expect([report.missing.entries, report.build.name]).toEqual([0, '1.0.1']);
          }
          expect((await pakrat.verify()).bad).toEqual([]);
        },
      );
    },
  );
});
