import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Sqlite } from '../../src/store/ledger/sqlite.ts';
import { conformanceBytes, describeConformance } from '../support/conformance.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type StoreCopy, type SyncedStore, syncedStore } from '../support/synced-store.ts';
import { withPakrat } from '../support/with-pakrat.ts';

const scratch = scratchFolder();

interface Report {
  checked: { entries: number; bytes: number };
  bad: { name: string; code: string }[];
  repaired: number;
}

let synced: SyncedStore;
beforeAll(async () => {
  synced = await syncedStore(scratch('original'));
}, 120_000);
afterAll(() => synced?.cdn.close());

describe('verify, on a store', () => {
  let copy: StoreCopy;
  const store = (): string => copy.root;
  const objects = (): ReturnType<StoreCopy['objects']> => copy.objects();
  const options = (): string[] => ['--store', store(), '--patch-url', synced.cdn.url];
  const verify = (...args: string[]): Promise<{ status: number | null; value: Report }> =>
    pakratJson<Report>(['verify', ...args, ...options()]);
  const sync = () => copy.with((pakrat) => pakrat.sync('wow', { all: true }));
  const expectWhole = async (): Promise<void> => {
    expect(await copy.with((pakrat) => pakrat.verify())).toMatchObject({ bad: [] });
  };

  beforeAll(() => {
    copy = synced.copyTo(scratch('store'));
  });

  function damage(path: string, at: number): void {
    const bytes = readFileSync(join(store(), path));
    bytes[at]! ^= 0x20;
    writeFileSync(join(store(), path), bytes);
  }

  test('a store that is whole: everything is hashed, nothing is bad', async () => {
    const held = statSync(join(store(), objects().archives[0]!)).size;
    const value = await copy.with((pakrat) => pakrat.verify());
    expect(value.bad).toEqual([]);
    expect(value.checked.bytes).toBeGreaterThan(held);
    expect(value.checked.entries).toBeGreaterThan(200);
  });

  test('damage of every kind is found, forgotten, and brought back by the next --repair', async () => {
    const { archives, indices, configs, loose } = objects();
    // Of another archive: without its index nothing of an archive can be checked.
    const index = indices.find((path) => path !== `${archives[0]}.index`)!;
    damage(archives[0]!, 40);
    damage(index, 10);
    damage(configs[0]!, 3);
    damage(loose[0]!, 20);
    const found = await verify();
    expect(found.status).toBe(3);
    const names = found.value.bad.map(({ name }) => name.split(' ')[0]);
    for (const path of [index, configs[0]!, loose[0]!]) expect(names).toContain(path);
    // Nothing that was found is counted as held any more.
    const again = await copy.with((pakrat) => pakrat.verify());
    expect(again.checked.bytes).toBeLessThan(found.value.checked.bytes);
    await sync();
    await expectWhole();
  });

  test('--repair fetches only what is damaged, and says so', async () => {
    const { archives, indices, loose } = objects();
    damage(archives.at(-1)!, 60);
    damage(indices.find((path) => path !== `${archives.at(-1)}.index`)!, 30);
    damage(loose.at(-1)!, 15);
    const before = synced.cdn.bytesSent();
    const { status, value } = await verify('--repair');
    expect(value.bad).toHaveLength(3);
    expect(value).toMatchObject({ repaired: 3 });
    expect(status).toBe(0);
    const total = readdirSync(store(), { recursive: true, encoding: 'utf8' })
      .map((path) => statSync(join(store(), path)).size)
      .reduce((a, b) => a + b);
    expect(synced.cdn.bytesSent() - before).toBeLessThan(total / 4);
    await expectWhole();
  });

  test('what was found damaged is missing in status, until it is repaired', async () => {
    const status = async () => (await copy.with((pakrat) => pakrat.status())).builds[0]!;
    const before = await status();
    expect(before.held).toEqual(before.wanted);
    damage(objects().archives[0]!, 40);
    const found = runPakrat(['verify', ...options()]);
    expect(found).toMatchObject({ status: 3, stderr: expect.stringContaining('sync again to fetch it') });
    const after = await status();
    expect(after.wanted).toEqual(before.wanted);
    expect(after.held.entries).toBe(before.held.entries - 1);
    expect(await sync()).toMatchObject({ fetched: { entries: 1 } });
    damage(objects().archives[0]!, 40);
    expect(await copy.with((pakrat) => pakrat.repair())).toMatchObject({ repaired: 1 });
    expect(await status()).toEqual(before);
  });

  test('a thousand entries of one archive that is gone are one line', () => {
    const archive = objects().archives[0]!;
    rmSync(join(store(), archive));
    const { status, stdout } = runPakrat(['verify', '--repair', ...options()]);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^  ${archive}: \\d+ entries: its file is gone$`, 'm'));
    expect(stdout.trim().split('\n')).toHaveLength(3);
  });

  test('an archive that is gone is bad entry by entry, and comes back', async () => {
    rmSync(join(store(), objects().archives[0]!));
    const value = await copy.with((pakrat) => pakrat.repair('wow'));
    expect(value.bad.length).toBeGreaterThan(1);
    expect(value.repaired).toBe(value.bad.length);
    expect(await copy.with((pakrat) => pakrat.verify('wow'))).toMatchObject({ bad: [] });
  });

  test('--repair when no host answers: what is damaged is told, and missing from then on', async () => {
    const { archives, configs } = objects();
    damage(archives[0]!, 40);
    for (const config of configs) damage(config, 3);
    const bad = [...configs, expect.stringMatching(`^${archives[0]} `)].map((name) =>
      expect.objectContaining({ name }),
    );
    const found = await verify('--repair', '--cdn-host', '127.0.0.1:9');
    expect(found).toMatchObject({ status: 3, value: { repaired: 0 } });
    expect(found.value.bad).toHaveLength(bad.length);
    expect(found.value.bad).toEqual(expect.arrayContaining(bad));
    const { builds } = await copy.with((pakrat) => pakrat.status());
    expect(builds[0]!.held).not.toEqual(builds[0]!.wanted);
    await sync();
    await expectWhole();
  });

  test('a build that the store does not have, a store that is not there, --repair --offline', async () => {
    const refused = (store: string, build?: string) =>
      expect(withPakrat({ store, patchUrl: synced.cdn.url }, (pakrat) => pakrat.verify(build))).rejects;
    await refused(store(), 'wow@9.9.9').toMatchObject({ code: 'E_NOT_FOUND' });
    await refused(scratch('none')).toMatchObject({ code: 'E_NOT_FOUND' });
    // It was not asked to be offline, and nothing needs to be asked to know.
    expect(runPakrat(['verify', 'fenris', ...options()])).toMatchObject({
      status: 4,
      stderr: expect.not.stringContaining('--offline'),
    });
    expect((await verify('--repair', '--offline')).status).toBe(2);
  });
});

describe('verify, with a damaged ledger', () => {
  const says = { code: 'E_STORE_DAMAGED', hint: expect.any(String) };
  const ruined = (...tables: string[]): string => {
    const store = scratch(tables[0]!);
    cpSync(scratch('original'), store, { recursive: true });
    ruinTables(join(store, 'ledger.db'), tables);
    return store;
  };

  test('in the tables of what the store holds: says that, finds no object bad for it, and is no bug', async () => {
    const verified = await pakratJson(['verify', '--store', ruined('objects', 'spans')]);
    expect(verified).toMatchObject({ status: 1, value: { error: says } });
  });

  test('in the tables of what is encrypted: just so', async () => {
    const work = withPakrat({ store: ruined('keys', 'settings') }, (pakrat) => pakrat.verify());
    await expect(work).rejects.toMatchObject(says);
  });
});

/** Writes over the first page of tables, which is no page of SQLite any more then. */
function ruinTables(path: string, tables: readonly string[]): void {
  const db = new Sqlite(path);
  const pageSize = db.get<{ page_size: number }>('PRAGMA page_size')!.page_size;
  const rows = db.all<{ name: string; page: number }>('SELECT name, rootpage AS page FROM sqlite_master');
  db.close();
  const bytes = readFileSync(path);
  for (const { name, page } of rows)
    if (tables.includes(name)) bytes.fill(0xaa, (page - 1) * pageSize, page * pageSize);
  writeFileSync(path, bytes);
}

describeConformance('verify, on PAKs', () => {
  const damaged = (at: number): string => {
    const bytes = conformanceBytes('pak', 'unreal', 'repak', 'pack_v8b_encrypt.pak').slice();
    if (at > 0) bytes[at]! ^= 4;
    writeFileSync(scratch('p.pak'), bytes);
    return scratch('p.pak');
  };

  test('encrypted entries are checked without a key', () => {
    expect(runPakrat(['verify', damaged(0)])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('all right'),
    });
    const wrong = runPakrat(['verify', damaged(500), '--json']);
    expect(wrong.status).toBe(3);
    expect((JSON.parse(wrong.stdout) as Report).bad).toMatchObject([{ code: 'E_INTEGRITY' }]);
  });
});

describe('verify', () => {
  test('what is not there', async () => {
    const work = withPakrat({}, (pakrat) => pakrat.verify(scratch('none.pak')));
    await expect(work).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });
});
