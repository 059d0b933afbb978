import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mergeSettings } from '../../../src/app/settings/settings.ts';
import { HttpClient } from '../../../src/cdn/transport/http.ts';
import { Channels } from '../../../src/cdn/versions/channels.ts';
import { serviceUrls } from '../../../src/cdn/versions/service-urls.ts';
import { askVersionService, type VersionQuestion } from '../../../src/cdn/versions/version-service.ts';
import { encodeRibbit } from '../../../src/formats/services/ribbit-mime.ts';
import { freePort, httpServer, type Loopback, tcpServer } from '../../support/loopback.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const versions = (seqn: number | undefined, buildId = 60100): string =>
  `Region!STRING:0|BuildId!DEC:4\n${seqn === undefined ? '' : `## seqn = ${seqn}\n`}us|${buildId}\n`;

let http: HttpClient;
let open: Loopback[];
let asked: string[];

beforeEach(() => {
  http = new HttpClient({ connectMs: 2000, idleMs: 2000, connections: 2 });
  open = [];
  asked = [];
});
afterEach(async () => {
  await http.close();
  await Promise.all(open.map((server) => server.close()));
});

/** A service over HTTP, as `--patch-url` names it. Every request is noted under its name. */
async function service(name: string, handler: RequestListener): Promise<string> {
  const server = await httpServer((request, response) => {
    asked.push(`${name} ${request.url}`);
    handler(request, response);
  });
  open.push(server);
  return `http://${server.host}`;
}

const saying = (name: string, body: string | Uint8Array, status = 200): Promise<string> =>
  service(name, (_, response) => response.writeHead(status).end(body));

function ask(urls: string[], options: Partial<VersionQuestion> = {}): ReturnType<typeof askVersionService> {
  const services = serviceUrls([], 'us', urls);
  const channels = async (): Promise<Channels> => new Channels({ read: () => undefined, add: () => {} });
  const question = { product: 'wow', endpoint: 'versions', services, http, channels, timeoutMs: 2000 };
  return askVersionService({ ...question, ...options });
}

describe('serviceUrls', () => {
  const { versionServices, regions } = mergeSettings();

  test('the official services of a region, in the order in which they are asked', () => {
    expect(serviceUrls(versionServices, 'eu')).toEqual([
      'channels+https://distribution.version.battle.net',
      'https://eu.version.battle.net/v2/products/{product}/{endpoint}',
      'http://eu.patch.battle.net:1119/{product}/{endpoint}',
      'ribbit://eu.version.battle.net:1119',
    ]);
  });

  test('China has hosts of its own', () => {
    expect(serviceUrls(versionServices, 'cn')).toEqual([
      'channels+https://distribution.version.battle.net',
      'https://cn.version.battlenet.com.cn/v2/products/{product}/{endpoint}',
      'http://cn.patch.battlenet.com.cn:1119/{product}/{endpoint}',
      'ribbit://cn.version.battlenet.com.cn:1119',
    ]);
    expect(regions).toEqual(['us', 'eu', 'kr', 'tw', 'sg', 'cn']);
  });

  test('patch URLs take the place of all others', () => {
    expect(serviceUrls(versionServices, 'us', ['http://h:80/base/', 'ribbit://h:1119', 'https://u:p@h'])).toEqual([
      'http://h:80/base/{product}/{endpoint}',
      'ribbit://h:1119',
      'https://u:p@h/{product}/{endpoint}',
    ]);
  });

  test.each(['127.0.0.1:8090', 'ftp://h', 'http://', 'file:///etc', ''])('%j is no version service', (url) => {
    expect(() => serviceUrls([], 'us', [url])).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  });
});

describe('askVersionService', () => {
  test('asks URL/PRODUCT/ENDPOINT and reads the table', async () => {
    const a = await saying('a', versions(35202));
    const answer = await ask([`${a}/v2/products`]);
    expect(asked).toEqual(['a /v2/products/wow/versions']);
    expect(answer).toMatchObject({
      seqn: 35202,
      stale: false,
      failures: [],
      service: `${a}/v2/products/{product}/{endpoint}`,
    });
    expect(answer.bpsv.rows).toEqual([{ Region: 'us', BuildId: '60100' }]);
    expect(new TextDecoder().decode(answer.bytes)).toBe(versions(35202));
  });

  test('asks over TCP what is written as ribbit://', async () => {
    const server = await tcpServer((socket) => {
      socket.once('data', (line) => {
        asked.push(line.toString());
        socket.end(encodeRibbit({ data: encode(versions(9)), disposition: 'cdns' }));
      });
    });
    open.push(server);
    const answer = await ask([`ribbit://${server.host}`], { endpoint: 'cdns' });
    expect(asked).toEqual(['v1/products/wow/cdns\r\n']);
    expect(answer).toMatchObject({ seqn: 9, service: `ribbit://${server.host}` });
  });

  test('goes on to the next when one is dead, hangs, answers HTML, is broken or damaged', async () => {
    const damaged = encodeRibbit({ data: encode(versions(5)), disposition: 'versions' });
    damaged[Buffer.from(damaged).indexOf('60100')] = 0x37;
    const bad = await tcpServer((socket) => socket.once('data', () => socket.end(damaged)));
    open.push(bad);
    const services = [
      `http://127.0.0.1:${await freePort()}`,
      await service('silent', () => {}),
      await saying('html', '<!doctype html><html><body>Please log in</body></html>'),
      await saying('busy', 'try later', 503),
      await saying('moved', '', 302),
      await service('cut', (_, response) => {
        response.writeHead(200, { 'content-length': 500 }).write(versions(1));
        setTimeout(() => response.destroy(), 20);
      }),
      `ribbit://${bad.host}`,
      await saying('good', versions(5)),
    ];
    const answer = await ask(services, { timeoutMs: 2500 });
    expect(answer.seqn).toBe(5);
    expect(answer.failures.map(({ code }) => code)).toEqual([
      'E_NETWORK',
      'E_NETWORK_TIMEOUT',
      'E_FORMAT',
      'E_NETWORK_STATUS',
      'E_NETWORK_STATUS',
      'E_NETWORK',
      'E_INTEGRITY',
    ]);
  });

  test('one that failed lately is asked after the others', async () => {
    const services = serviceUrls([], 'us', [await saying('a', versions(1)), await saying('b', versions(1))]);
    await ask([], { services, isAiling: (service) => service === services[0] });
    await ask([], { services, isAiling: () => true });
    expect(asked).toEqual(['b /wow/versions', 'a /wow/versions']);
  });

  test('a stale edge is put aside, and not taken when another is newer', async () => {
    const services = [await saying('stale', versions(90, 1)), await saying('fresh', versions(101, 2))];
    const answer = await ask(services, { lowestSeqn: 100 });
    expect(answer).toMatchObject({ seqn: 101, stale: false });
    expect(asked).toHaveLength(2);
    expect(await ask(services, { lowestSeqn: 90 })).toMatchObject({ seqn: 90, stale: false });
  });

  test('when all are stale, the newest of them is taken and says so', async () => {
    const services = [await saying('a', versions(80)), await saying('b', versions(90)), await saying('c', 'no', 500)];
    expect(await ask(services, { lowestSeqn: 100 })).toMatchObject({ seqn: 90, stale: true });
  });

  test('an answer of the years before sequence numbers is taken', async () => {
    expect(await ask([await saying('old', versions(undefined))], { lowestSeqn: 100 })).toMatchObject({
      seqn: undefined,
      stale: false,
    });
  });

  test('a product that no one knows is not found, whatever the way of saying so', async () => {
    const silent = await tcpServer((socket) => socket.once('data', () => socket.end()));
    open.push(silent);
    const services = [
      await saying('404', 'not here', 404),
      await saying('empty', ''),
      await saying('header', 'Region!STRING:0|BuildId!DEC:4\n## seqn = 3\n'),
      `ribbit://${silent.host}`,
      `http://127.0.0.1:${await freePort()}`,
    ];
    const error = await ask(services, { product: 'wwo' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E_NOT_FOUND', hint: expect.stringContaining('spelling') });
    const lines = (error as Error).message.split('\n').map((line) => line.trim());
    expect(lines[0]).toContain('wwo');
    expect(lines[1]).toBe(`${services[0]}: HTTP status 404`);
    expect(lines[2]).toBe(`${services[1]}: empty answer`);
    expect(lines[5]).toContain('ECONNREFUSED');
  });

  test('one that knows the product is enough', async () => {
    expect(await ask([await saying('404', '', 404), await saying('good', versions(1))])).toMatchObject({ seqn: 1 });
  });

  test('an empty bgdl is an answer', async () => {
    const answer = await ask([await saying('a', 'Region!STRING:0\n## seqn = 3\n')], { endpoint: 'bgdl' });
    expect(answer.bpsv.rows).toEqual([]);
  });

  test('when none can be believed, each is listed with what it said', async () => {
    const html = await saying('html', '<html>');
    const dead = `http://127.0.0.1:${await freePort()}`;
    const error = await ask([dead, html, await saying('404', '', 404)]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E_NETWORK_EXHAUSTED', hint: expect.stringContaining('--offline') });
    expect((error as Error).message).toContain(`${dead}: `);
    expect((error as Error).message).toContain('BPSV');
    await expect(ask([dead])).rejects.toMatchObject({ code: 'E_NETWORK_EXHAUSTED' });
  });

  test('a password in a patch URL is in no message', async () => {
    const dead = `http://user:secret@127.0.0.1:${await freePort()}`;
    const error = (await ask([dead]).catch((thrown: unknown) => thrown)) as Error & { data: unknown };
    expect(error.message + JSON.stringify(error.data)).not.toContain('secret');
  });

  test('a body without end is given up at its limit', async () => {
    const endless = await service('endless', (_, response) => {
      const piece = new Uint8Array(1 << 20);
      const more = (): void => {
        // Newer runtimes call back at once: whoever reads it here would never get a turn.
        if (!response.destroyed) response.write(piece, () => setImmediate(more));
      };
      more();
    });
    const answer = await ask([endless, await saying('good', versions(1))], { timeoutMs: 5000 });
    expect(answer.failures).toMatchObject([{ code: 'E_NETWORK_RANGE' }]);
  });

  test('an impossible product is refused before anyone is asked', async () => {
    const a = await saying('a', versions(1));
    for (const product of ['../etc', 'a/b', '', '..', 'x y']) {
      await expect(ask([a], { product })).rejects.toMatchObject({ code: 'E_USAGE' });
    }
    expect(asked).toEqual([]);
  });

  test('an interruption ends it at once', async () => {
    const silent = await service('silent', () => {});
    const started = performance.now();
    await expect(ask([silent, silent], { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      code: 'E_ABORTED',
    });
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
