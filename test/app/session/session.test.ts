import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { withSource } from '../../../src/app/session/open-source.ts';
import { openSession, Session } from '../../../src/app/session/session.ts';
import type { SessionOptions } from '../../../src/app/session/session-options.ts';
import { toHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { publishBuild } from '../../../src/publish/publish-build.ts';
import type { BuildIdentity } from '../../../src/store/ledger/rows.ts';
import { builtModule } from '../../support/built-module.ts';
import { quakePak } from '../../support/quake-pak.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const library = builtModule('src/index.ts');
let sessions: Session[] = [];
afterEach(async () => {
  for (const session of sessions) await session.close();
  sessions = [];
});
function open(options: SessionOptions): Session {
  const session = new Session(options);
  sessions.push(session);
  return session;
}
const below = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function writePak(): string {
  mkdirSync(scratch('games'), { recursive: true });
  writeFileSync(scratch('games', 'a.pak'), quakePak([{ name: 'maps/a.bsp', content: 'A map' }]));
  return scratch('games', 'a.pak');
}

/** A build in the layout of a CDN, its folder below `out`. */
async function publish(): Promise<string> {
  const files = [{ name: 'readme.txt', read: () => encode('read me') }];
  const name = { product: 'sample', version: '1.0', buildId: 1 };
  await publishBuild({ ...name, files, out: scratch('cdn'), hosts: ['127.0.0.1'] });
  return scratch('cdn', 'tpr/sample');
}

async function readText(session: Session, source: string, name: string): Promise<string> {
  return withSource(session, source, {}, async (opened) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of opened.source.read(await opened.source.get(name))) pieces.push(piece.slice());
    return Buffer.concat(pieces).toString();
  });
}

describe('a session without a store', () => {
  test('opens a PAK, and a build in a folder; what that derives is gone when it is closed', async () => {
    const session = open({});
    expect(await readText(session, writePak(), 'maps/a.bsp')).toBe('A map');
    const folder = await publish();
    const before = below(folder);
    expect(await readText(session, folder, `ckey:${md5Hex(encode('read me'))}`)).toBe('read me');
    const { manifests } = await session.folders();
    expect(readdirSync(manifests).length).toBeGreaterThan(0);
    await session.close();
    expect(existsSync(dirname(manifests))).toBe(false);
    expect(below(folder)).toEqual(before);
  });

  test('says so where a store is needed', async () => {
    const session = open({});
    const refused = { code: 'E_USAGE', hint: expect.stringContaining('openPakrat({ store') };
    expect(() => session.storeFolder).toThrow(expect.objectContaining(refused));
    await expect(session.store({ create: true })).rejects.toMatchObject(refused);
    await expect(session.resolve('wow', { fresh: false })).rejects.toMatchObject(refused);
    expect(await session.storeIfThere()).toBeUndefined();
  });

  test('in a process of its own: it leaves no file anywhere, and loads no SQLite', async () => {
    const folder = await publish();
    const pak = writePak();
    for (const name of ['home', 'tmp', 'work']) mkdirSync(scratch('process', name), { recursive: true });
    const source = `
      import { readFileSync } from 'node:fs';
      import { openPakrat } from '${library}';
      const pakrat = await openPakrat();
      for (const path of ${JSON.stringify([pak, folder])}) {
        const opened = await pakrat.open(path);
        for await (const { name } of opened.list()) console.log(name);
        await opened.close();
      }
      await pakrat.close();
      if (process.platform === 'linux') console.log(/sqlite/.test(readFileSync('/proc/self/maps', 'utf8')));
      else console.log(false);
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
      cwd: scratch('process', 'work'),
      env: { PATH: process.env.PATH, HOME: scratch('process', 'home'), TMPDIR: scratch('process', 'tmp') },
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const printed = stdout.trim().split('\n');
    expect([printed[0], printed.at(-1)]).toEqual(['maps/a.bsp', 'false']);
    expect(printed.length).toBeGreaterThan(2);
    expect(below(scratch('process'))).toEqual(['home', 'tmp', 'work']);
  });
});

describe('a session with a store', () => {
  test('makes it only when it is to', async () => {
    const store = scratch('new-store');
    const session = open({ store });
    expect(session.storeFolder).toBe(store);
    expect(await session.storeIfThere()).toBeUndefined();
    await expect(session.store({ create: false })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect(existsSync(store)).toBe(false);
    const opened = await session.store({ create: true });
    expect(existsSync(store)).toBe(true);
    expect(await session.storeIfThere()).toBe(opened);
    expect(await session.folders()).toEqual(opened.layout);
  });

  test('has the keys of its options, then those of the store', async () => {
    const [own, stored] = ['0000000000000001', '0000000000000002'];
    const session = open({ store: scratch('keys'), keys: { [own.toUpperCase()]: 'AA'.repeat(16) } });
    const { ledger } = await session.store({ create: true });
    const row = { extra: '', source: 'a list' };
    ledger.addKeys([
      { ...row, name: own, key: 'bb'.repeat(16) },
      { ...row, name: stored, key: 'cc'.repeat(16) },
    ]);
    const ring = await session.keyRing();
    const found = [own, stored, '0000000000000003'].map((name) => ring.find(name));
    expect(found.map((key) => key && toHex(key))).toEqual(['aa'.repeat(16), 'cc'.repeat(16), undefined]);
  });

  test('offline there is no network', async () => {
    const session = open({ store: scratch('offline'), offline: true });
    expect(await session.openNetwork({ hosts: [] } as unknown as BuildIdentity)).toBeUndefined();
  });
});

test.each([
  [{ region: 'zz' }, 'there is no region "zz"'],
  [{ locale: 'klingon' }, 'klingon'],
  [{ store: '' }, '--store names no folder'],
  [{ patchUrl: 'ftp://a' }, 'ftp://a'],
  [{ cdnHost: ['a', 'b c'] }, 'b c'],
  [{ keys: { x: 'aa' } }, 'keys: "x"'],
  [{ settings: { sync: { jobs: 0 } } }, 'the settings given: sync.jobs: 0 is less than 1'],
] as [SessionOptions, string][])('%j are no options', async (options, message) => {
  await expect(openSession(options)).rejects.toThrow(
    expect.objectContaining({ code: 'E_USAGE', message: expect.stringContaining(message) }),
  );
});
