import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Session } from '../../../src/app/session/session.ts';
import { decodeBpsv } from '../../../src/formats/services/bpsv.ts';
import { decodeChannelCatalogue, decodeChannelSummary } from '../../../src/formats/services/channels.ts';
import { type Answers, openAnswers } from '../../../src/serve/answers/answers.ts';
import { chosenBuilds } from '../../../src/serve/answers/chosen-builds.ts';
import type { BuildIdentity } from '../../../src/store/ledger/rows.ts';
import type { Store } from '../../../src/store/store.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { codeOf } from '../../support/thrown-code.ts';

jest.setTimeout(30_000);
const scratch = scratchFolder();
let number = 0;
let session: Session;
let store: Store;

beforeEach(async () => {
  number += 1;
  await open();
});
afterEach(() => session.close());

async function open(): Promise<void> {
  session = new Session({ store: scratch(`store${number}`), offline: true });
  store = await session.store({ create: true });
}

/** A build of which all is held, unless `entries` says otherwise. */
function addBuild(name: string, digit: string, { entries = 1, product = 'game' } = {}): BuildIdentity {
  const [buildConfig, cdnConfig] = [digit.repeat(32), 'c'.repeat(32)];
  const keys = { buildConfig, cdnConfig, productConfig: null, keyRing: null };
  const build = { product, name, buildId: name.split('.').at(-1) ?? '', ...keys, region: 'us' };
  const identity = { ...build, cdnPath: 'tpr/game', configPath: 'tpr/configs/data', hosts: [] };
  store.ledger.addBuild(identity);
  const progress = { selection: '{}', wanted: { entries: 1, bytes: 9 }, held: { entries, bytes: 9 } };
  store.ledger.setProgress(product, buildConfig, progress);
  return identity;
}

/** An answer of the version service: the digit of the live build by region. */
function addAnswer(seqn: number, live: Record<string, string>): void {
  const rows = Object.entries(live).map(
    ([region, digit]) => `${region}|${digit.repeat(32)}|${'c'.repeat(32)}|${seqn}|1.0.${digit}`,
  );
  const head = `Region!STRING:0|BuildConfig!HEX:16|CDNConfig!HEX:16|BuildId!DEC:4|VersionsName!String:0\n## seqn = ${seqn}`;
  const body = Buffer.from(`${[head, ...rows].join('\n')}\n`);
  store.ledger.addAnswer('game', 'versions', { seqn, service: 'http://service', time: Date.now() + seqn, body });
}

function say(live: readonly string[] = [], { mayLack = false, host = 'cache:8080' } = {}): Answers {
  return openAnswers({ store, chosen: chosenBuilds(store, live), mayLack, publicHost: () => host });
}

function versions(answers: Answers): Record<string, string> {
  const { rows } = decodeBpsv(answers.table('game', 'versions') ?? new Uint8Array());
  return Object.fromEntries(rows.map((row) => [row.Region, row.VersionsName]));
}

function seqn(answers: Answers): number {
  return decodeBpsv(answers.table('game', 'versions') ?? new Uint8Array()).seqn ?? 0;
}

test('the newest build that is held whole is live in every region', () => {
  addBuild('1.0.1', '1');
  addBuild('1.0.3', '3', { entries: 0 });
  addBuild('1.0.2', '2');
  expect(versions(say())).toEqual({ us: '1.0.2', eu: '1.0.2', kr: '1.0.2', tw: '1.0.2', cn: '1.0.2' });
});

test('where nothing is held whole, the newest that is known is live', () => {
  addBuild('1.0.2', '2', { entries: 0 });
  addBuild('1.0.1', '1', { entries: 0 });
  expect(versions(say()).us).toBe('1.0.2');
});

test('each region has the build that the service called live there, where it is held; regions are all that it ever named', () => {
  addBuild('1.0.1', '1');
  addBuild('1.0.2', '2');
  addAnswer(10, { xx: '1', us: '1' });
  addAnswer(20, { us: '2', eu: '1', kr: '9' });
  expect(versions(say())).toEqual({ us: '1.0.2', eu: '1.0.1', kr: '1.0.2', xx: '1.0.2' });
  expect(
    decodeBpsv(say().table('game', 'cdns') ?? new Uint8Array())
      .rows.map(({ Name }) => Name)
      .sort(),
  ).toEqual(['eu', 'kr', 'us', 'xx']);
});

test('where what lacks is fetched, the service alone says what is live', () => {
  addBuild('1.0.1', '1');
  addBuild('1.0.2', '2', { entries: 0 });
  addAnswer(20, { us: '2' });
  expect(versions(say([], { mayLack: true }))).toEqual({ us: '1.0.2' });
  expect(versions(say())).toEqual({ us: '1.0.1' });
});

test('a person names the live build by version, id or the beginning of its config, also one that only an answer named', () => {
  addBuild('1.0.1', '1');
  addBuild('1.0.2', '2');
  addAnswer(10, { us: '7' });
  const cdns = `Name!STRING:0|Path!STRING:0|Hosts!STRING:0\nus|tpr/game|h\n`;
  store.ledger.addAnswer('game', 'cdns', { seqn: 1, service: 's', time: 1, body: Buffer.from(cdns) });
  for (const name of ['1.0.1', '1', '1111']) expect(versions(say([`game=${name}`])).us).toBe('1.0.1');
  expect(versions(say(['game=1.0.7'])).us).toBe('1.0.7');
});

test('an unknown live build is an error of use that lists what there is', () => {
  addBuild('1.0.1', '1');
  for (const text of ['game=9.9', 'game', 'game=', '=1', 'other=1', 'game=1.0.1=2'])
    expect(codeOf(() => chosenBuilds(store, [text]))).toBe('E_USAGE');
  expect(() => chosenBuilds(store, ['game=1.0.1', 'game=1.0.1'])).toThrow('two are named');
  expect(() => chosenBuilds(store, ['game=9.9'])).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('1.0.1') }),
  );
  expect(() => chosenBuilds(store, ['other=1'])).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('game') }),
  );
});

test('sequence numbers begin at that of the service, rise with every change, and never fall over restarts', async () => {
  addBuild('1.0.1', '1');
  addBuild('1.0.2', '2');
  addAnswer(500, { us: '1' });
  const seen = [seqn(say())];
  expect(seen).toEqual([500]);
  expect(seqn(say())).toBe(500);
  for (const live of ['2', '1', '2']) {
    await session.close();
    await open();
    seen.push(seqn(say([`game=${live}`])));
    expect(seqn(say([`game=${live}`]))).toBe(seen.at(-1));
  }
  expect(seen).toEqual([500, 501, 502, 503]);
  expect(seqn(say(['game=2'], { host: 'elsewhere' }))).toBe(504);
  addAnswer(900, { us: '2' });
  expect(seqn(say(['game=2']))).toBe(900);
});

test('a store that cannot be written numbers what is new by time, and what is known as before', () => {
  addBuild('1.0.1', '1');
  addBuild('1.0.2', '2');
  const before = seqn(say(['game=1']));
  expect(before).toBeGreaterThan(1_700_000_000);
  const readOnly = { ...store, writable: false, layout: store.layout, ledger: store.ledger };
  const again = openAnswers({
    store: readOnly as Store,
    chosen: chosenBuilds(store, ['game=1']),
    mayLack: false,
    publicHost: () => 'cache:8080',
  });
  expect(seqn(again)).toBe(before);
  const other = openAnswers({
    store: readOnly as Store,
    chosen: chosenBuilds(store, ['game=2']),
    mayLack: false,
    publicHost: () => 'cache:8080',
  });
  expect(seqn(other)).toBeGreaterThan(before);
});

test('the list of all products and the catalogue name each product once, and change with any of them', () => {
  addBuild('1.0.1', '1');
  addBuild('2.0.1', '2', { product: 'other' });
  const answers = say();
  const summary = decodeBpsv(answers.summary());
  expect(summary.rows.map(({ Product, Flags }) => `${Product}:${Flags}`)).toEqual([
    'game:',
    'game:cdn',
    'other:',
    'other:cdn',
  ]);
  const { catalogue, path } = decodeChannelSummary(answers.channels());
  expect(path).toBe('v2/channels');
  const products = decodeChannelCatalogue(answers.channelObject(catalogue) ?? new Uint8Array()).products;
  expect(products.map(({ product }) => product)).toEqual(['game', 'other']);
  addBuild('2.0.2', '3', { product: 'other' });
  answers.renew();
  const after = decodeChannelSummary(answers.channels());
  expect(after.catalogue).not.toBe(catalogue);
  expect(answers.channelObject(catalogue)).toBeDefined();
  expect(decodeBpsv(answers.summary()).seqn).toBeGreaterThan(summary.seqn ?? 0);
});

test('a product of which nothing is known has no answer', () => {
  expect(say().table('game', 'versions')).toBeUndefined();
  expect(decodeBpsv(say().summary()).rows).toEqual([]);
});
