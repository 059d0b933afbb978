import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { GcReport } from '../../../src/app/gc.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodeCdnConfig } from '../../../src/formats/configs/cdn-config.ts';
import { type StaticServer, serveFolder } from '../../../src/serve/static-server.ts';
import { objectPath, storeLayout } from '../../../src/store/layout.ts';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import type { BuildRow } from '../../../src/store/ledger/rows.ts';
import { publishFamily } from '../../support/family.ts';
import { randomSource } from '../../support/hostile.ts';
import { freePort } from '../../support/loopback.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const versions = [0, 1, 2];
let server: StaticServer;
/** The number of the store of a test. */
let number = 0;

/** Syncs builds of the family, each while it is live. */
async function syncAll(all: readonly number[] = []): Promise<string> {
  number += 1;
  const [store, out] = [scratch(`store${number}`), scratch(`cdn${number}`)];
  const port = await freePort();
  await server?.close();
  for (const version of versions) {
    await publishFamily(version, { out, port });
    if (version === 0) server = await serveFolder(out, { port });
    const options = { store, patchUrl: server.url };
    await withPakrat(options, (pakrat) => pakrat.sync('game', { all: all.includes(version) }));
  }
  return store;
}

const plan = (store: string, name = 'game@1.0'): Promise<GcReport> =>
  withPakrat({ store, offline: true }, (pakrat) => pakrat.forget([name], { dryRun: true }));

function rowOf(store: string, name: string): BuildRow {
  const ledger = new Ledger(storeLayout(store).ledger);
  const row = ledger.builds('game').find((build) => build.name === name);
  ledger.close();
  if (row === undefined) throw new Error(`${name} is not there`);
  return row;
}

const fileOf = (store: string, name: string): string => join(storeLayout(store).marks, rowOf(store, name).buildConfig);

afterAll(() => server?.close());

describe('what builds name is kept', () => {
  let store: string;
  let planned: GcReport;
  let file: string;
  let bytes: Buffer;

  beforeAll(async () => {
    store = await syncAll();
    file = fileOf(store, '1.1');
    bytes = readFileSync(file);
    rmSync(storeLayout(store).marks, { recursive: true });
    planned = await plan(store);
  });

  test('by the sync of a build, and by the first plan as well', () => {
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  test('and the next plan is the same, without a build being opened', async () => {
    rmSync(storeLayout(store).groups, { recursive: true });
    expect(await plan(store)).toEqual({ ...planned, diskBytes: expect.any(Number) });
    expect(existsSync(storeLayout(store).groups)).toBe(false);
  });

  test('and made again when a bit of it is wrong: no byte more goes', async () => {
    const random = randomSource(5);
    for (let round = 0; round < 24; round++) {
      const wrong = Buffer.from(bytes);
      wrong[Math.floor((round / 24) * bytes.length)]! ^= 1 << Math.floor(random() * 8);
      writeFileSync(file, wrong);
      const { bytes: dead, kept } = await plan(store);
      expect({ round, dead, kept }).toEqual({ round, dead: planned.bytes, kept: planned.kept });
      expect(readFileSync(file).equals(bytes)).toBe(true);
    }
  });

  test.each<[string, () => void]>([
    ['gone', () => rmSync(file)],
    ['cut', () => writeFileSync(file, bytes.subarray(0, bytes.length - 40))],
    ['empty', () => writeFileSync(file, '')],
    ['that of another build', () => writeFileSync(file, readFileSync(fileOf(store, '1.2')))],
  ])('and made again when it is %s', async (_, damage) => {
    damage();
    expect(await plan(store)).toMatchObject({ bytes: planned.bytes, kept: planned.kept });
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  test('and verify names it when it is damaged', async () => {
    writeFileSync(file, Buffer.concat([Buffer.of(9), bytes.subarray(1)]));
    await withPakrat({ store, offline: true }, async (pakrat) => {
      expect((await pakrat.verify()).bad.map(({ name }) => join(store, name))).toEqual([file]);
      expect((await pakrat.verify()).bad).toEqual([]);
    });
    await plan(store);
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  test('and where it cannot be, gc goes on without', async () => {
    const { marks } = storeLayout(store);
    rmSync(marks, { recursive: true });
    writeFileSync(marks, 'no folder');
    expect(await plan(store)).toMatchObject({ bytes: planned.bytes, kept: planned.kept });
    rmSync(marks);
  });

  test('and goes with its build', async () => {
    await withPakrat({ store, offline: true }, (pakrat) => pakrat.gc());
    const gone = fileOf(store, '1.0');
    expect(existsSync(gone)).toBe(true);
    await withPakrat({ store, offline: true }, (pakrat) => pakrat.forget(['game@1.0']));
    expect(existsSync(gone)).toBe(false);
    expect(existsSync(file)).toBe(true);
  });
});

test('a build of which all is wanted later keeps all that its CDN config lists', async () => {
  const store = await syncAll();
  const { bytes } = await plan(store);
  expect(bytes).toBeGreaterThan(20_000);
  await withPakrat({ store, patchUrl: server.url }, async (pakrat) => {
    await pakrat.sync('game', { all: true });
    const { bytes: left } = await pakrat.forget(['game@1.0'], { dryRun: true });
    // Its configs and the index of its loose objects: the others list its archives and its manifests.
    expect(left).toBeLessThan(8000);
    await pakrat.forget(['game@1.0', 'game@1.1']);
  });
  const row = rowOf(store, '1.2');
  const ledger = new Ledger(storeLayout(store).ledger);
  const config = objectPath({ cdnPath: row.cdnPath, kind: 'config', hash: row.cdnConfig });
  const { archives } = decodeCdnConfig(readFileSync(join(store, config)));
  for (const hash of archives)
    expect(ledger.completeSize(objectPath({ cdnPath: row.cdnPath, kind: 'data', hash }))).toBeGreaterThan(0);
  ledger.close();
});

test('the only copy of an entry stays although what the build names was known before, and the CDN config that lists it', async () => {
  const store = await syncAll();
  await plan(store);
  const row = rowOf(store, '1.2');
  const pathOf = (kind: 'config' | 'data', hash: string): string => objectPath({ cdnPath: row.cdnPath, kind, hash });
  const text = readFileSync(join(store, pathOf('config', row.cdnConfig)), 'latin1');
  const [archive = ''] = decodeCdnConfig(Buffer.from(text)).archives;
  const less = text.replace(/^(archives = )\S+ /m, '$1').replace(/^(archives-index-size = )\S+ /m, '$1');
  const hash = md5Hex(Buffer.from(less));
  mkdirSync(dirname(join(store, pathOf('config', hash))), { recursive: true });
  writeFileSync(join(store, pathOf('config', hash)), less);
  const ledger = new Ledger(storeLayout(store).ledger);
  ledger.addComplete(pathOf('config', hash), less.length);
  ledger.addBuild({ ...row, cdnConfig: hash });
  const before = readFileSync(fileOf(store, '1.2'));
  await plan(store);
  // The marks are those of the CDN config that the build has now.
  expect(readFileSync(fileOf(store, '1.2')).equals(before)).toBe(false);
  const held = ledger.spans(pathOf('data', archive)).reduce((sum, { start, end }) => sum + end - start, 0);
  for (const name of ['game@1.0', 'game@1.1'])
    await withPakrat({ store, offline: true }, (pakrat) => pakrat.forget([name]));
  const left = ledger.spans(pathOf('data', archive)).reduce((sum, { start, end }) => sum + end - start, 0);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(held);
  expect(ledger.completeSize(pathOf('config', row.cdnConfig))).toBe(text.length);
  ledger.addBuild(row);
  ledger.close();
  await withPakrat({ store, offline: true }, async (pakrat) => {
    expect((await pakrat.sync('game@1.2', { dryRun: true })).missing.entries).toBe(0);
    expect((await pakrat.verify()).bad).toEqual([]);
  });
});

describe('nothing goes although what each build names is known', () => {
  const damages: Record<string, (store: string, row: BuildRow) => void> = {
    'a bit of a CDN config is wrong': (store, { cdnPath, cdnConfig }) => {
      const file = join(store, objectPath({ cdnPath, kind: 'config', hash: cdnConfig }));
      const bytes = readFileSync(file);
      const at = bytes.indexOf('archives = ') + 'archives = '.length;
      bytes[at] = bytes[at] === 0x61 ? 0x62 : 0x61;
      writeFileSync(file, bytes);
    },
    'an index is not held': (store, { cdnPath, cdnConfig }) => {
      const config = readFileSync(join(store, objectPath({ cdnPath, kind: 'config', hash: cdnConfig })));
      const [hash = ''] = decodeCdnConfig(config).archives;
      const ledger = new Ledger(storeLayout(store).ledger);
      ledger.removeObject(objectPath({ cdnPath, kind: 'data', hash, suffix: '.index' }));
      ledger.close();
    },
  };

  test.each(Object.keys(damages))('while %s', async (what) => {
    const store = await syncAll();
    expect((await plan(store)).bytes).toBeGreaterThan(0);
    expect(readdirSync(storeLayout(store).marks)).toHaveLength(3);
    damages[what]?.(store, rowOf(store, '1.2'));
    const report = await withPakrat({ store, offline: true }, (pakrat) => pakrat.gc({ keep: 1 }));
    expect(report).toMatchObject({ builds: [], objects: 0, bytes: 0, spared: [{ cdnPath: 'tpr/game' }] });
  });
});
