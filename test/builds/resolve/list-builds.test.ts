import { expect, test } from '@jest/globals';
import { listBuilds } from '../../../src/builds/resolve/list-builds.ts';
import { seenVersions } from '../../../src/builds/resolve/seen-builds.ts';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
let number = 0;

/** The build config of a build that is named by a letter, and its CDN config. */
const key = (letter: string): string => letter.repeat(32);
const cdnKey = (letter: string): string => `${letter.repeat(31)}0`;
const cdns = 'Name!STRING:0|Path!STRING:0|Hosts!STRING:0\nus|tpr/game|host.test\neu|tpr/game|host.test\n';

/** A ledger with answers: at each time, with a sequence number or none, the build of each region. */
function ledgerOf(
  answers: readonly (readonly [time: number, seqn: number | undefined, us: string, eu: string])[],
): Ledger {
  const ledger = new Ledger(scratch(`${number++}.db`));
  const add = (endpoint: string, time: number, text: string): void =>
    ledger.addAnswer('game', endpoint, { seqn: null, service: 'test', time, body: Buffer.from(text) });
  add('cdns', 1, cdns);
  for (const [time, seqn, ...builds] of answers) {
    const rows = builds.map((build, i) => `${['us', 'eu'][i]}|${key(build)}|${cdnKey(build)}|1.${build}`);
    const head = 'Region!STRING:0|BuildConfig!HEX:16|CDNConfig!HEX:16|VersionsName!String:0';
    add('versions', time, `${head}\n${seqn === undefined ? '' : `## seqn = ${seqn}\n`}${rows.join('\n')}\n`);
  }
  return ledger;
}

/** The letters of the builds that are listed. @param named the builds that each CDN config names */
async function listed(ledger: Ledger, named: Record<string, string> = {}, region = 'us'): Promise<string> {
  const context = { ledger, online: undefined, region, note: () => {} };
  const builds = await listBuilds(context, 'game', async ({ cdnConfig }) => {
    const letters = named[cdnConfig[0] ?? ''];
    return letters === undefined ? undefined : Buffer.from(`archives =\nbuilds = ${[...letters].map(key).join(' ')}\n`);
  });
  return builds.map(({ buildConfig }) => buildConfig[0]).join('');
}

test('the live build of the region comes first, then those that were seen, of every region, the newest first', async () => {
  const ledger = ledgerOf([
    [10, undefined, 'a', 'b'],
    [20, undefined, 'c', 'b'],
    [30, undefined, 'd', 'e'],
  ]);
  expect(await listed(ledger)).toBe('decab');
  expect(await listed(ledger, {}, 'eu')).toBe('edcba');
});

test('a build that is live again is the newest, whatever came between', async () => {
  const ledger = ledgerOf([
    [10, undefined, 'a', 'a'],
    [20, undefined, 'b', 'b'],
    [30, undefined, 'a', 'a'],
  ]);
  expect(await listed(ledger)).toBe('ab');
});

test('sequence numbers tell the age where answers have them: one that came late from a stale server makes nothing young', async () => {
  const ledger = ledgerOf([
    [10, 10, 'a', 'a'],
    [20, 20, 'b', 'b'],
    [29, 5, 'c', 'c'],
    [30, 30, 'd', 'd'],
  ]);
  expect(await listed(ledger)).toBe('dbac');
  expect([...seenVersions(ledger, 'game').values()].map(({ name }) => name)).toEqual(['1.c', '1.a', '1.b', '1.d']);
});

test('builds that CDN configs alone name stand where these have them, whichever way round they have them', async () => {
  const ledger = ledgerOf([
    [10, undefined, 'a', 'a'],
    [20, undefined, 'd', 'd'],
  ]);
  expect(await listed(ledger, { d: 'dcbaf' })).toBe('dcbaf');
  expect(await listed(ledger, { d: 'fabcd' })).toBe('dcbaf');
  expect(await listed(ledger, { d: 'dc', a: 'af' })).toBe('dcaf');
});

test('builds that the ledger alone knows come last', async () => {
  const ledger = ledgerOf([[10, undefined, 'a', 'a']]);
  const identity = { product: 'game', cdnConfig: cdnKey('a'), productConfig: null, keyRing: null, region: 'us' };
  for (const [letter, buildId] of [
    ['b', '7'],
    ['c', '9'],
  ] as const)
    ledger.addBuild({
      ...identity,
      name: letter,
      buildId,
      buildConfig: key(letter),
      cdnPath: 'tpr/game',
      configPath: 'c',
      hosts: [],
    });
  expect(await listed(ledger)).toBe('acb');
});
