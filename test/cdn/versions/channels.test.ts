import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { HttpClient } from '../../../src/cdn/transport/http.ts';
import { type ChannelObjects, Channels } from '../../../src/cdn/versions/channels.ts';
import { type ChannelService, channelService, definitionOf } from '../../support/channel-service.ts';
import { httpServer } from '../../support/loopback.ts';

let service: ChannelService;
let http: HttpClient;
let kept: Map<string, Uint8Array>;
let objects: ChannelObjects;

beforeEach(async () => {
  service = await channelService();
  http = new HttpClient({ connectMs: 2000, idleMs: 2000, connections: 2 });
  kept = new Map();
  objects = { read: (name) => kept.get(name), add: (name, bytes) => kept.set(name, bytes) };
});
afterEach(async () => {
  await http.close();
  await service.close();
});

type Table = ReturnType<Channels['table']>;

function ask(product: string, endpoint = 'versions', channels = new Channels(objects)): Table {
  const base = `http://${service.host}`;
  return channels.table({ base, product, endpoint, http, timeoutMs: 2000 });
}

/** A product with one build and one list of hosts. */
function publish(more: object = {}): string {
  const definition = service.put(definitionOf(60100));
  const cdns = service.put({
    hosts: [{ host: 'https://cdn.test/?maxhosts=4' }, { host: 'http://b.test/?fallback=1' }],
  });
  return service.publish([
    { product: 'NONE', variant: 'nobuilds', infrastructure: true, regions: [] },
    {
      product: 'WOW',
      variant: 'wow',
      builds: [{ branches: ['us', 'kr'], definition }],
      regions: [{ branches: ['us', 'kr', 'eu'], cdns }],
      ...more,
    },
  ]);
}

describe('Channels', () => {
  test('gives the tables that the older services have, a row for each region', async () => {
    publish();
    const versions = await ask('wow');
    const row = {
      BuildConfig: 'a'.repeat(32),
      CDNConfig: 'b'.repeat(32),
      ProductConfig: 'c'.repeat(32),
      KeyRing: '',
      BuildId: '60100',
      VersionsName: '11.2.0.60100',
    };
    expect(versions.bpsv.rows).toEqual([
      { Region: 'us', ...row },
      { Region: 'kr', ...row },
    ]);
    const cdns = await ask('WoW', 'cdns');
    const servers = 'https://cdn.test/?maxhosts=4 http://b.test/?fallback=1';
    const cdn = { Path: 'tpr/wow', Hosts: '', Servers: servers, ConfigPath: 'tpr/configs/data' };
    expect(cdns.bpsv.rows).toEqual(['us', 'kr', 'eu'].map((Name) => ({ Name, ...cdn })));
  });

  test('the path of the summary is joined with one slash, whether it ends in one or not', async () => {
    await service.close();
    service = await channelService('/blue');
    publish();
    expect((await ask('wow')).bpsv.rows).toHaveLength(2);
  });

  test('keeps every object and asks for none twice; one that the disk spoilt is asked for again', async () => {
    const catalogue = publish();
    await ask('wow');
    expect(kept.size).toBe(2);
    service.asked.length = 0;
    await ask('wow');
    expect(service.asked).toEqual(['/summary']);
    kept.set(catalogue, new Uint8Array(5));
    await ask('wow');
    expect(kept.get(catalogue)).toEqual(service.objects.get(catalogue));
  });

  test('asks for the summary once for questions at a time', async () => {
    publish();
    const channels = new Channels(objects);
    await Promise.all([ask('wow', 'versions', channels), ask('wow', 'cdns', channels)]);
    expect(service.asked.filter((path) => path === '/summary')).toHaveLength(1);
  });

  test('believes no object that is not what its name says', async () => {
    const catalogue = publish();
    service.objects.set(catalogue, new TextEncoder().encode('{"products":[]}'));
    await expect(ask('wow')).rejects.toMatchObject({
      code: 'E_INTEGRITY',
      message: expect.stringContaining(catalogue),
    });
    expect(kept.size).toBe(0);
  });

  test.each([
    ['a product that is not there', 'wwo', 'versions', {}],
    ['a product without builds', 'nobuilds', 'versions', {}],
    ['a product whose builds are empty', 'wow', 'versions', { builds: [] }],
    ['a table that channels do not have', 'wow', 'bgdl', {}],
  ])('%s is not found', async (_, product, endpoint, more) => {
    publish(more);
    await expect(ask(product, endpoint)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('fields that are missing leave their columns empty', async () => {
    const short = { productConfig: undefined, versionNumber: undefined, keyRing: undefined, build: null, more: [1] };
    publish({ builds: [{ branches: ['xx'], definition: service.put(definitionOf(1, short)), later: true }] });
    expect((await ask('wow')).bpsv.rows[0]).toMatchObject({
      Region: 'xx',
      BuildId: '',
      ProductConfig: '',
      KeyRing: '',
    });
  });

  test('a definition that no host has is an error, not a table with a region less', async () => {
    publish({ builds: [{ branches: ['us'], definition: 'd'.repeat(32) }] });
    await expect(ask('wow')).rejects.toMatchObject({ code: 'E_NETWORK_STATUS' });
  });

  test('a catalogue with more objects for a product than there are regions in the world is refused', async () => {
    const hash = (i: number): string => String(i).padStart(32, '0');
    publish({ builds: Array.from({ length: 1000 }, (_, i) => ({ branches: [`r${i}`], definition: hash(i) })) });
    await expect(ask('wow')).rejects.toMatchObject({ code: 'E_FORMAT_RANGE' });
    expect(service.asked.length).toBeLessThan(5);
  });

  test('a summary without end is cut short', async () => {
    let sent = 0;
    const endless = await httpServer((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65536))) sent += 65536;
        response.once('drain', more);
      };
      more();
    });
    try {
      const question = { base: `http://${endless.host}`, product: 'wow', endpoint: 'versions', http, timeoutMs: 5000 };
      await expect(new Channels(objects).table(question)).rejects.toMatchObject({ code: 'E_NETWORK_RANGE' });
      expect(sent).toBeLessThan(16 << 20);
    } finally {
      await endless.close();
    }
  });
});
