import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Sqlite } from '../../src/store/ledger/sqlite.ts';
import { conformanceBytes, describeConformance } from '../support/conformance.ts';
import { pakratJson, runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyntheticCdn, syntheticCdn } from '../support/synthetic-cdn.ts';

const scratch = scratchFolder();

interface Report {
  checked: { entries: number; bytes: number };
  bad: { name: string; code: string }[];
  repaired: number;
}

describe('verify, on a store', () => {
  let cdn: SyntheticCdn;
  const store = (): string => scratch('store');
  const options = (): string[] => ['--store', store(), '--patch-url', cdn.url];
  const verify = (...args: string[]): Promise<{ status: number | null; value: Report }> =>
    pakratJson<Report>(['verify', ...args, ...options()]);

  beforeAll(async () => {
    cdn = await syntheticCdn();
    const { status } = await pakratJson(['sync', 'wow', '--all', ...options()]);
    expect(status).toBe(0);
  });
  afterAll(() => cdn.close());

  /** Objects of the store, by the kind that their names show; the largest archive first. */
  function objects(): { archives: string[]; indices: string[]; configs: string[]; loose: string[] } {
    const all = readdirSync(store(), { recursive: true, encoding: 'utf8' }).filter(
      (path) => /\/[0-9a-f]{32}(\.index)?$/.test(path) && path.startsWith('tpr/'),
    );
    const data = all.filter((path) => path.includes('/data/') && !path.includes('configs/'));
    const sizeOf = (path: string): number => statSync(join(store(), path)).size;
    const isArchive = (path: string): boolean => data.includes(`${path}.index`);
    return {
      archives: data.filter(isArchive).sort((a, b) => sizeOf(b) - sizeOf(a)),
      indices: data.filter((path) => path.endsWith('.index')),
      configs: all.filter((path) => path.includes('/config/')),
      loose: data.filter((path) => !path.endsWith('.index') && !isArchive(path)),
    };
  }

  function damage(path: string, at: number): void {
    const bytes = readFileSync(join(store(), path));
    bytes[at]! ^= 0x20;
    writeFileSync(join(store(), path), bytes);
  }

  test('a store that is whole: everything is hashed, nothing is bad', async () => {
    const held = statSync(join(store(), objects().archives[0]!)).size;
    const { status, value } = await verify();
    expect(status).toBe(0);
    expect(value.bad).toEqual([]);
    expect(value.checked.bytes).toBeGreaterThan(held);
    expect(value.checked.entries).toBeGreaterThan(200);
  });

  test('damage of every kind is found, forgotten, and brought back by the next --repair', async () => {
    const { archives, indices, configs, loose } = objects();
    damage(archives[0]!, 40);
    damage(indices[0]!, 10);
    damage(configs[0]!, 3);
    damage(loose[0]!, 20);
    const found = await verify();
    expect(found.status).toBe(3);
    const names = found.value.bad.map(({ name }) => name.split(' ')[0]);
    for (const path of [indices[0]!, configs[0]!, loose[0]!]) expect(names).toContain(path);
    // Nothing that was found is counted as held any more.
    const again = await verify();
    expect(again.value.checked.bytes).toBeLessThan(found.value.checked.bytes);
    const { status } = await pakratJson(['sync', 'wow', '--all', ...options()]);
    expect(status).toBe(0);
    expect(await verify()).toMatchObject({ status: 0, value: { bad: [] } });
  });

  test('--repair fetches only what is damaged, and says so', async () => {
    const { archives, indices, loose } = objects();
    damage(archives.at(-1)!, 60);
    damage(indices[1]!, 30);
    damage(loose.at(-1)!, 15);
    const before = cdn.bytesSent();
    const { status, value } = await verify('--repair');
    expect(value.bad).toHaveLength(3);
    expect(value).toMatchObject({ repaired: 3 });
    expect(status).toBe(0);
    const total = readdirSync(store(), { recursive: true, encoding: 'utf8' })
      .map((path) => statSync(join(store(), path)).size)
      .reduce((a, b) => a + b);
    expect(cdn.bytesSent() - before).toBeLessThan(total / 4);
    expect(await verify()).toMatchObject({ status: 0, value: { bad: [] } });
  });

  test('what was found damaged is missing in status, until it is repaired', async () => {
    const status = async (): Promise<{ wanted: { entries: number }; held: { entries: number } }> =>
      (await pakratJson<{ builds: never[] }>(['status', '--store', store()])).value.builds[0]!;
    const before = await status();
    expect(before.held).toEqual(before.wanted);
    damage(objects().archives[0]!, 40);
    const found = runPakrat(['verify', ...options()]);
    expect(found).toMatchObject({ status: 3, stderr: expect.stringContaining('sync again to fetch it') });
    const after = await status();
    expect(after.wanted).toEqual(before.wanted);
    expect(after.held.entries).toBe(before.held.entries - 1);
    expect(await pakratJson(['sync', 'wow', '--all', ...options()])).toMatchObject({
      status: 0,
      value: { fetched: { entries: 1 } },
    });
    damage(objects().archives[0]!, 40);
    expect((await verify('--repair')).status).toBe(0);
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
    const { status, value } = await verify('wow', '--repair');
    expect(value.bad.length).toBeGreaterThan(1);
    expect({ status, repaired: value.repaired }).toEqual({ status: 0, repaired: value.bad.length });
    expect(await verify('wow')).toMatchObject({ status: 0, value: { bad: [] } });
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
    const { value } = await pakratJson<{ builds: { wanted: object; held: object }[] }>(['status', '--store', store()]);
    expect(value.builds[0]!.held).not.toEqual(value.builds[0]!.wanted);
    expect((await pakratJson(['sync', 'wow', '--all', ...options()])).status).toBe(0);
    expect(await verify()).toMatchObject({ status: 0, value: { bad: [] } });
  });

  test('a build that the store does not have, a store that is not there, --repair --offline', async () => {
    expect((await verify('wow@9.9.9')).status).toBe(4);
    // It was not asked to be offline, and nothing needs to be asked to know.
    expect(runPakrat(['verify', 'fenris', ...options()])).toMatchObject({
      status: 4,
      stderr: expect.not.stringContaining('--offline'),
    });
    expect(runPakrat(['verify', '--store', scratch('none')]).status).toBe(4);
    expect((await verify('--repair', '--offline')).status).toBe(2);
  });
});

describe('verify, with a damaged ledger', () => {
  test.each([
    ['what the store holds', ['objects', 'spans']],
    ['what is encrypted', ['keys', 'settings']],
  ])('in the tables of %s: says that, finds no object bad for it, and is no bug', async (_, tables) => {
    const cdn = await syntheticCdn();
    try {
      const store = scratch(tables[0]!);
      expect(runPakrat(['sync', 'wow', '--store', store, '--patch-url', cdn.url]).status).toBe(0);
      ruinTables(join(store, 'ledger.db'), tables);
      expect(await pakratJson(['verify', '--store', store])).toMatchObject({
        status: 1,
        value: { error: { code: 'E_STORE_DAMAGED', hint: expect.any(String) } },
      });
    } finally {
      await cdn.close();
    }
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
  test('what is not there', () => {
    expect(runPakrat(['verify', scratch('none.pak')]).status).toBe(4);
  });
});
