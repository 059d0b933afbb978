import { readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../src/app/sync.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { freePort, httpServer } from '../support/loopback.ts';
import { pakratJson } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { ServedTree } from '../support/served-cdn.ts';
import { makeTree, serveTree } from '../support/synthetic-cdn.ts';
import { wrongByEkey } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Whole processes and whole syncs; the machine may be busy.
jest.setTimeout(120_000);
const scratch = scratchFolder();
const most = 6;

describe('a bad network', () => {
  const root = scratch('tree');
  const www = join(root, 'www');
  let good: ServedTree;

  beforeAll(async () => {
    const port = await freePort();
    makeTree(root, port, ['--files', '120', '--total-bytes', '4M', '--seed', 'bad-network']);
    good = await serveTree(root, [], port);
  });
  afterAll(() => good?.close());

  /** Syncs everything in this process, from certain hosts. */
  async function syncHere(store: string, cdnHost: readonly string[], jobs?: number): Promise<SyncReport> {
    const report = await withPakrat({ store, patchUrl: good.url, cdnHost }, (pakrat) =>
      pakrat.sync('wow', { all: true, jobs }),
    );
    expect(checkHeldBytes(store, www).wrong).toEqual([]);
    return report;
  }

  /** Every file by encoding key, from the store alone. */
  function wrongOf(store: string): Promise<string[]> {
    return withPakrat({ store, offline: true }, (pakrat) => wrongByEkey(pakrat, root, join(store, 'out')));
  }

  /** Runs a sync again and again while it exits 9; after each run everything that is called held must be right. */
  async function syncToTheEnd(store: string, args: readonly string[]): Promise<{ runs: number; last: SyncReport }> {
    for (let runs = 1; ; runs++) {
      const { status, value } = await pakratJson<SyncReport>(['sync', 'wow', '--store', store, ...args]);
      expect(checkHeldBytes(store, www).wrong).toEqual([]);
      if (status === 0) return { runs, last: value };
      expect({ status, value }).toMatchObject({ status: 9, value: { error: { code: 'E_INCOMPLETE' } } });
      expect(runs).toBeLessThan(most);
    }
  }

  const badly = [
    [
      'answers 503, cuts and changes bytes',
      ['--fail', '0.1', '--cut', '0.1', '--flip', '0.05', '--seed', '2'],
      ['--all'],
    ],
    ['knows no ranges', ['--no-range'], []],
    ['knows no ranges and cuts', ['--no-range', '--cut', '0.1', '--flip', '0.05', '--seed', '2'], []],
  ] as const;
  test.each(badly)('of one host that %s: the sync ends right, never a wrong byte held', async (title, serve, more) => {
    const server = await serveTree(root, serve);
    try {
      const store = scratch(title.replaceAll(/\W/g, '-'));
      const { last } = await syncToTheEnd(store, [
        '--patch-url',
        server.url,
        '--cdn-host',
        new URL(server.url).host,
        ...more,
      ]);
      expect(last.missing).toEqual({ entries: 0, bytes: 0 });
      expect(await wrongOf(store)).toEqual([]);
    } finally {
      await server.close();
    }
  });

  const html: RequestListener = (_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<html><body>Please log in to the Wi-Fi</body></html>');
  };
  const withoutConfigs: RequestListener = (request, response) => {
    if (/\/configs?\//.test(request.url!)) response.writeHead(404).end('no such thing');
    else serveFile(www, request, response);
  };

  /** What a sync that had a bad host and the good one must have come to in its first run. */
  async function expectCarried(store: string, report: SyncReport): Promise<void> {
    expect(report.missing).toEqual({ entries: 0, bytes: 0 });
    expect(report.seconds).toBeLessThan(15);
    expect(await wrongOf(store)).toEqual([]);
  }

  test('of two hosts of which one answers HTML with status 200: the other carries it', async () => {
    const bad = await httpServer(html);
    try {
      const store = scratch('half-html');
      const hosts = ['--cdn-host', bad.host, '--cdn-host', new URL(good.url).host];
      const { runs, last } = await syncToTheEnd(store, ['--patch-url', good.url, ...hosts, '--all']);
      expect(runs).toBe(1);
      await expectCarried(store, last);
    } finally {
      await bad.close();
    }
  });

  test('of two hosts of which one is dead: the other carries it', async () => {
    const store = scratch('half-dead');
    const hosts = [`127.0.0.1:${await freePort()}`, new URL(good.url).host];
    await expectCarried(store, await syncHere(store, hosts));
  });

  test('of two hosts of which one answers 404 to configs: the other has them, and both serve data', async () => {
    let served = 0;
    const bad = await httpServer((request, response) => {
      if (request.url!.includes('/data/')) served += 1;
      withoutConfigs(request, response);
    });
    try {
      const store = scratch('half-configs');
      const report = await syncHere(store, [bad.host, new URL(good.url).host], 2);
      expect(served).toBeGreaterThan(report.fetched.requests / 4);
      await expectCarried(store, report);
    } finally {
      await bad.close();
    }
  });

  test.each([
    ['an index', /\.index$/],
    ['the objects of one folder', /\/data\/[4-7]\w\/\w\w\/\w{32}$/],
  ])('%s that no host gives right: exit 9, and the next run fetches what is left', async (title, path) => {
    const store = scratch(title.replaceAll(/\W/g, '-'));
    const bad = await httpServer((request, response) => {
      if (path.test(request.url!)) response.writeHead(503).end();
      else serveFile(www, request, response);
    });
    try {
      // Everything, for then no bytes are fetched that are not kept.
      const hosts = ['--patch-url', good.url, '--cdn-host', bad.host];
      const run = await pakratJson(['sync', 'wow', '--all', '--store', store, ...hosts]);
      const error = { code: 'E_INCOMPLETE', hint: expect.stringContaining('again') };
      expect(run).toMatchObject({ status: 9, value: { error } });
      const { bytes, wrong } = checkHeldBytes(store, www);
      expect(wrong).toEqual([]);
      const { missing, fetched } = await syncHere(store, [new URL(good.url).host]);
      expect(missing.entries).toBe(0);
      expect(bytes + fetched.bytes).toBe(checkHeldBytes(store, www).bytes);
    } finally {
      await bad.close();
    }
  });

  test('when every host lies nothing is held, and the exit is not that of success', async () => {
    const bad = await httpServer(html);
    try {
      const store = scratch('all-lie');
      const run = await pakratJson(['sync', 'wow', '--store', store, '--patch-url', good.url, '--cdn-host', bad.host]);
      expect(run).toMatchObject({ status: 1, value: { error: { code: 'E_NETWORK_EXHAUSTED' } } });
      expect(checkHeldBytes(store, www)).toEqual({ bytes: 0, wrong: [] });
    } finally {
      await bad.close();
    }
  });
});

/** A static server with single ranges, in a few lines. */
function serveFile(www: string, request: IncomingMessage, response: Parameters<RequestListener>[1]): void {
  const file = join(www, request.url!);
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) {
    response.writeHead(404).end();
    return;
  }
  const bytes = readFileSync(file);
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  if (range === null) {
    response.writeHead(200, { 'content-length': size }).end(bytes);
    return;
  }
  const [start, end] = [Number(range[1]), Math.min(size, Number(range[2]) + 1)];
  const headers = { 'content-length': end - start, 'content-range': `bytes ${start}-${end - 1}/${size}` };
  response.writeHead(206, headers).end(bytes.subarray(start, end));
}
