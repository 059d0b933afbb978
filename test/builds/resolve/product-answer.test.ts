import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mergeSettings } from '../../../src/app/settings/settings.ts';
import { productAnswer, type ResolveContext } from '../../../src/builds/resolve/product-answer.ts';
import { HttpClient } from '../../../src/cdn/transport/http.ts';
import { Channels } from '../../../src/cdn/versions/channels.ts';
import { serviceUrls } from '../../../src/cdn/versions/service-urls.ts';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import { channelService, definitionOf } from '../../support/channel-service.ts';
import { httpServer, type Loopback } from '../../support/loopback.ts';

let folder: string;
let ledger: Ledger;
let http: HttpClient;
let servers: Loopback[];
let notes: string[];
let asked: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pakrat-answer-'));
  ledger = new Ledger(join(folder, 'ledger.db'));
  http = new HttpClient({ connectMs: 2000, idleMs: 2000, connections: 1 });
  servers = [];
  notes = [];
  asked = [];
});
afterEach(async () => {
  await http.close();
  await Promise.all(servers.map((server) => server.close()));
  ledger.close();
  rmSync(folder, { recursive: true });
});

/** A version service that says what `state.seqn` is at the moment; 0 breaks it. */
async function service(name: string, state: { seqn: number }): Promise<string> {
  const server = await httpServer((_, response) => {
    asked.push(name);
    if (state.seqn === 0) response.writeHead(500).end();
    else response.end(`Region!STRING:0|BuildId!DEC:4\n## seqn = ${state.seqn}\nus|${state.seqn}\n`);
  });
  servers.push(server);
  return `http://${server.host}`;
}

function context(patchUrls: string[], offline = false): ResolveContext {
  const { versionServices, network } = mergeSettings();
  const services = serviceUrls(versionServices, 'us', patchUrls);
  const channels = async (): Promise<Channels> => new Channels({ read: () => undefined, add: () => {} });
  const online = offline ? undefined : { services, http, channels, timeoutMs: network.versionServiceMs };
  return { ledger, online, region: 'us', note: (text) => notes.push(text) };
}

test('an answer is kept with its seqn and given again offline', async () => {
  const url = await service('a', { seqn: 7 });
  await expect(productAnswer(context([url], true), 'wow', 'versions')).rejects.toMatchObject({ code: 'E_OFFLINE' });
  const live = await productAnswer(context([url]), 'wow', 'versions');
  expect(live).toMatchObject({ seqn: 7, time: undefined });
  const kept = await productAnswer(context([], true), 'wow', 'versions');
  expect(kept).toMatchObject({ seqn: 7, service: live.service, bpsv: { rows: [{ Region: 'us', BuildId: '7' }] } });
  expect(kept.time).toBeGreaterThan(Date.now() - 60_000);
  expect(asked).toEqual(['a']);
});

test('a service that failed is asked last for five minutes, then in its turn again', async () => {
  const a = { seqn: 0 };
  const urls = [await service('a', a), await service('b', { seqn: 3 })];
  const services = serviceUrls([], 'us', urls);
  await productAnswer(context(urls), 'wow', 'versions');
  a.seqn = 3;
  await productAnswer(context(urls), 'wow_beta', 'cdns');
  expect(asked).toEqual(['a', 'b', 'b']);
  ledger.setSetting(`failed:${services[0]}`, String(Date.now() - 6 * 60_000));
  await productAnswer(context(urls), 'wow_beta', 'cdns');
  expect(asked.slice(3)).toEqual(['a']);
});

test('a catalogue that was there before is taken only when no other service answers, with a word, and is no news', async () => {
  const channels = await channelService();
  servers.push(channels);
  const live = (buildId: number): void => {
    const builds = [{ branches: ['us'], definition: channels.put(definitionOf(buildId)) }];
    channels.publish([{ variant: 'wow', builds }]);
  };
  const other = { seqn: 3 };
  const urls = [channels.url, await service('b', other)];
  const ask = (): ReturnType<typeof productAnswer> => productAnswer(context(urls), 'wow', 'versions');
  live(1);
  expect((await ask()).bpsv.rows[0]).toMatchObject({ BuildId: '1' });
  live(2);
  expect((await ask()).bpsv.rows[0]).toMatchObject({ BuildId: '2' });
  live(1);
  expect(await ask()).toMatchObject({ seqn: 3 });
  expect(notes).toEqual([]);
  other.seqn = 0;
  expect((await ask()).bpsv.rows[0]).toMatchObject({ BuildId: '1' });
  expect(notes).toEqual([expect.stringContaining('earlier catalogue')]);
  const offline = await productAnswer(context([], true), 'wow', 'versions');
  expect(offline).toMatchObject({ seqn: 3 });
});

test('a stale edge is passed over while another has the newer answer; else it is taken, with a word', async () => {
  const a = { seqn: 10 };
  const b = { seqn: 10 };
  const urls = [await service('a', a), await service('b', b)];
  await productAnswer(context(urls), 'wow', 'versions');
  a.seqn = 9;
  b.seqn = 11;
  expect(await productAnswer(context(urls), 'wow', 'versions')).toMatchObject({ seqn: 11 });
  expect(notes).toEqual([]);
  b.seqn = 0;
  expect(await productAnswer(context(urls), 'wow', 'versions')).toMatchObject({ seqn: 9 });
  expect(notes).toEqual([expect.stringMatching(/seqn 9, older than 11/)]);
  expect(await productAnswer(context(urls, true), 'wow', 'versions')).toMatchObject({ seqn: 11 });
});

test('a ledger that can only be read still lets the service be asked', async () => {
  const url = await service('a', { seqn: 4 });
  const readOnly = new Ledger(join(folder, 'ledger.db'), { readOnly: true });
  try {
    expect(await productAnswer({ ...context([url]), ledger: readOnly }, 'wow', 'versions')).toMatchObject({ seqn: 4 });
  } finally {
    readOnly.close();
  }
});
