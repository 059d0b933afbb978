import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
import type { VerifyResult } from '../../src/verify/verify-result.ts';
import { loseInode, makeImage, mendImage, mountImage, unmountImage, whyNoDisk } from '../support/mounted-image.ts';
import { syntheticCdn } from '../support/own-cdn.ts';
import { startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { someOf } from '../support/some-of.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/*
 * A disk that gives the name of a file, and nothing else of it, not even its size: the block with what the system knows of it is bad. It can be neither
 * opened, moved nor deleted. Or a folder of which it does not give the names.
 */

const scratch = scratchFolder();
const shim = scratch('lost-inode.cjs');
fs.writeFileSync(
  shim,
  `const fs = require('node:fs');
const { existsSync, lstatSync } = fs;
const inodeOf = (path) => {
  try {
    return lstatSync(path).ino;
  } catch {
    return undefined;
  }
};
const isLost = (path) => typeof path === 'string' && inodeOf(path) === Number(process.env.LOST_INODE);
for (const call of ['statSync', 'lstatSync', 'openSync', 'opendirSync', 'renameSync', 'unlinkSync', 'copyFileSync', 'linkSync', 'rmSync']) {
  const real = fs[call];
  fs[call] = (...args) => {
    const path = args.slice(0, 2).find(isLost);
    if (path === undefined) return real(...args);
    throw Object.assign(new Error('EIO: i/o error, ' + call + " '" + path + "'"), { code: 'EIO', syscall: call, path });
  };
}
fs.existsSync = (path) => !isLost(path) && existsSync(path);
`,
);

let cdn: SyntheticCdn;
let store: string;
let www: string;
/** A path below a CDN folder for each kind of object. */
const parts = new Map<string, string>();

beforeAll(async () => {
  const make = ['--files', '30', '--total-bytes', '200K', '--archives', '2', '--loose-meta', '1', '--loose', '0.1'];
  cdn = await syntheticCdn({ make });
  store = scratch('store');
  await withPakrat({ store, patchUrl: cdn.url }, async (pakrat) => {
    await pakrat.sync('wow', { all: true });
  });
  www = join(cdn.root, 'www');
  const held = fs.readdirSync(join(store, 'tpr/wow'), { recursive: true, encoding: 'utf8' }).toSorted();
  const index = held.find((name) => name.endsWith('.index') && held.includes(name.replace('.index', '')))!;
  const isObject = (name: string): boolean => /[0-9a-f]{32}$/.test(name);
  parts.set('an index', index);
  parts.set('an archive', index.replace('.index', ''));
  parts.set(
    'a loose object',
    held.find((name) => name.startsWith('data') && isObject(name) && !held.includes(`${name}.index`))!,
  );
  parts.set('a config', held.find((name) => name.startsWith('config') && isObject(name))!);
}, 120_000);
afterAll(() => cdn?.close());

interface Outcome {
  status: number | null;
  said: string;
  stdout: string;
}

/** @param lost the path of what the disk does not give, or its inode */
async function runLost(lost: string | number, ...args: string[]): Promise<Outcome> {
  const inode = typeof lost === 'number' ? lost : fs.statSync(lost).ino;
  const env = { NODE_OPTIONS: `--require ${shim}`, LOST_INODE: String(inode) };
  const { status, stdout, stderr } = await startPakrat(args, { env }).ended;
  return { status, said: stdout + stderr, stdout };
}

/** What lies in a store, but for one object. */
function heldBut(folder: string, hash: string): string[] {
  const all = fs.readdirSync(join(folder, 'tpr'), { recursive: true, encoding: 'utf8' });
  return all.filter((name) => /[0-9a-f]{32}(\.index)?$/.test(name) && !name.includes(hash)).toSorted();
}

const kinds = ['an index', 'an archive', 'a loose object', 'a config'];
const unread = 'it cannot be read: EIO';

describe.each(someOf(kinds, (kind) => /index|loose/.test(kind)))('%s of which a disk gives the name alone', (kind) => {
  const part = (): string => parts.get(kind)!;
  const at = (folder: string): string => join(folder, part());

  test('is damage for verify of a store and of a CDN folder, and all else is checked', async () => {
    const found = await runLost(at(join(store, 'tpr/wow')), 'verify', '--store', store, '--offline', '--json');
    expect(found.status).toBe(3);
    const { bad, checked } = JSON.parse(found.stdout) as VerifyResult;
    expect(bad.map(({ name }) => name)).toContain(`tpr/wow/${part()}`);
    expect(found.said).toContain(unread);
    expect(checked.entries).toBeGreaterThan(10);
    const folder = join(www, 'tpr/wow');
    const mirror = await runLost(at(folder), 'verify', `cdn:${folder}`, '--quiet');
    expect(mirror).toMatchObject({ status: 3, said: expect.stringContaining(basename(part())) });
  });

  test('costs an import itself alone, of a mirror and of a store', async () => {
    for (const [i, folder] of [www, store].entries()) {
      const taken = scratch(`taken-${part().replaceAll('/', '-')}-${i}`);
      const { status, said } = await runLost(
        at(join(folder, 'tpr/wow')),
        'import',
        folder,
        '--store',
        taken,
        '--quiet',
      );
      expect({ status, said }).toMatchObject({
        status: 3,
        said: expect.stringContaining(`${basename(part())}: ${unread}`),
      });
      const whole = scratch(`whole-${i}`);
      if (!fs.existsSync(whole)) await startPakrat(['import', folder, '--store', whole, '--quiet']).ended;
      const hash = basename(part()).replace('.index', '');
      if (kind !== 'a config') expect(heldBut(taken, hash)).toEqual(heldBut(whole, hash));
      // The disk gives it again.
      expect((await startPakrat(['import', folder, '--store', taken, '--quiet']).ended).status).toBe(0);
      expect(heldBut(taken, 'nothing')).toEqual(heldBut(whole, 'nothing'));
    }
  });

  test.each([
    ['sync', (copy: string) => ['sync', 'wow', '--all', '--store', copy]],
    ['verify --repair', (copy: string) => ['verify', '--repair', '--store', copy]],
    ['import', (copy: string) => ['import', www, '--store', copy]],
  ] as const)(
    'is fetched or taken anew by %s, beside the file, and gets its place once that is gone',
    async (how, argsOf) => {
      const copy = scratch(`${how}-${part().replaceAll('/', '-')}`);
      fs.cpSync(store, copy, { recursive: true });
      const lost = at(join(copy, 'tpr/wow'));
      const again = join(copy, 'partial/tpr/wow', part());
      const run = (...args: string[]) => runLost(lost, ...args, '--store', copy, '--quiet');
      const online = how === 'import' ? [] : ['--patch-url', cdn.url];
      const { status, said } = await runLost(lost, ...argsOf(copy), ...online, '--quiet');
      expect({ status, said }).toMatchObject({ status: 0 });
      expect(fs.existsSync(again) && fs.readFileSync(again).equals(fs.readFileSync(at(join(store, 'tpr/wow'))))).toBe(
        true,
      );
      expect(await run('gc')).toMatchObject({ status: 0 });
      expect(await run('verify', '--offline')).toMatchObject({ status: 0 });
      const files = scratch(`files-${how}-${part().replaceAll('/', '-')}`);
      expect(await run('extract', 'wow', '--offline', '--to', files)).toMatchObject({ status: 7 });
      // What fsck does with a file of which nothing is known.
      fs.rmSync(lost);
      expect(
        await startPakrat(['verify', '--repair', '--store', copy, '--patch-url', cdn.url, '--quiet']).ended,
      ).toMatchObject({ status: 0 });
      expect(fs.existsSync(lost)).toBe(true);
      expect(fs.existsSync(again)).toBe(false);
    },
  );
});

test('an archive of which a disk gives the name alone is fetched anew by an extract, and is damage for one without a network', async () => {
  const right = scratch('right');
  const flags = (folder: string, from: string) => ['extract', 'wow', '--to', folder, '--store', from, '--quiet'];
  await startPakrat([...flags(right, store), '--offline']).ended;
  const copy = scratch('extracted');
  fs.cpSync(store, copy, { recursive: true });
  const lost = join(copy, 'tpr/wow', parts.get('an archive')!);
  const alone = await runLost(lost, ...flags(scratch('alone'), copy), '--offline');
  expect(alone).toMatchObject({ status: 3, said: expect.stringMatching(/entry [0-9a-f]{32} cannot be read: EIO/) });
  const files = scratch('files');
  expect(await runLost(lost, ...flags(files, copy), '--patch-url', cdn.url)).toMatchObject({ status: 7 });
  const names = fs.readdirSync(right, { recursive: true, encoding: 'utf8' }).toSorted();
  expect(fs.readdirSync(files, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual(names);
  for (const name of names.filter((one) => fs.statSync(join(right, one)).isFile()))
    expect([name, fs.readFileSync(join(files, name))]).toEqual([name, fs.readFileSync(join(right, name))]);
});

test('a part of an archive of which a disk gives the name alone ends a sync, which says what to do; nothing is lost', async () => {
  const copy = scratch('lost-part');
  fs.cpSync(store, copy, { recursive: true });
  const archive = parts.get('an archive')!;
  const part = join(copy, 'partial/tpr/wow', archive);
  fs.mkdirSync(dirname(part), { recursive: true });
  fs.renameSync(join(copy, 'tpr/wow', archive), part);
  const sync = ['sync', 'wow', '--all', '--store', copy, '--patch-url', cdn.url, '--quiet'];
  const { status, said } = await runLost(part, ...sync);
  expect({ status, said }).toMatchObject({ status: 1, said: expect.stringMatching(/EIO.*\n.*E_STORE\n.*fsck/) });
  expect((await startPakrat(sync).ended).status).toBe(0);
  expect(await startPakrat(['verify', '--store', copy, '--offline', '--quiet']).ended).toMatchObject({ status: 0 });
});

test('what lies in partial/ until its place is free is checked, and waits, where a disk gives no names of it', async () => {
  const copy = scratch('unlisted parts');
  fs.cpSync(store, copy, { recursive: true });
  const object = join('tpr/wow', parts.get('a loose object')!);
  const lost = join(copy, object);
  const inode = fs.statSync(lost).ino;
  const service = ['--store', copy, '--patch-url', cdn.url];
  expect(await runLost(inode, 'verify', '--repair', ...service)).toMatchObject({ status: 0 });
  expect(fs.statSync(lost).ino).toBe(inode);
  fs.rmSync(lost);
  for (const command of [['verify'], ['sync', 'wow', '--all']])
    expect([command[0], (await runLost(join(copy, 'partial'), ...command, ...service)).status]).toEqual([
      command[0],
      0,
    ]);
  expect([lost, join(copy, 'partial', object)].map((path) => fs.existsSync(path))).toEqual([false, true]);
  expect((await startPakrat(['verify', ...service]).ended).status).toBe(0);
  expect(fs.existsSync(lost)).toBe(true);
});

test('a folder of which a disk does not give the names costs an import what lies in it', async () => {
  const folder = dirname(parts.get('a loose object')!);
  const taken = scratch('without-folder');
  const { status, said } = await runLost(join(www, 'tpr/wow', folder), 'import', www, '--store', taken, '--quiet');
  expect({ status, said }).toMatchObject({ status: 3, said: expect.stringContaining(`${folder}: ${unread}`) });
  expect(heldBut(taken, 'nothing').length).toBeGreaterThan(10);
  expect((await startPakrat(['import', www, '--store', taken, '--quiet']).ended).status).toBe(0);
  // The folder that was named is another matter.
  const whole = await runLost(www, 'import', www, '--store', scratch('none'), '--quiet');
  expect(whole).toMatchObject({ status: 1, said: expect.stringContaining('E_STORE') });
});

test.each(['all of them', 'some of them'])(
  'a store that lost the names of its channels, %s, is imported with all else, and what is right comes the next time',
  async (which) => {
    const folder = scratch(`channels, ${which}`);
    fs.cpSync(store, folder, { recursive: true });
    const [kept, lost] = ['{"products":[]}', '{"products":[1]}'].map((text) => {
      const name = md5Hex(Buffer.from(text));
      const path = join('channels', name.slice(0, 2), name.slice(2, 4), name);
      fs.mkdirSync(dirname(join(folder, path)), { recursive: true });
      fs.writeFileSync(join(folder, path), text);
      return path;
    }) as [string, string];
    const taken = scratch(`taken, ${which}`);
    const unreadFolder = which === 'all of them' ? 'channels' : dirname(lost);
    const args = ['import', folder, '--store', taken, '--quiet'];
    const first = await runLost(join(folder, unreadFolder), ...args);
    expect(first).toMatchObject({ status: 3, said: expect.stringContaining(`${unreadFolder}: ${unread}`) });
    expect(heldBut(taken, 'nothing')).toEqual(heldBut(store, 'nothing'));
    expect([kept, lost].map((path) => fs.existsSync(join(taken, path)))).toEqual([which === 'some of them', false]);
    expect((await startPakrat(args).ended).status).toBe(0);
    for (const path of [kept, lost])
      expect(fs.readFileSync(join(taken, path))).toEqual(fs.readFileSync(join(folder, path)));
  },
);

test('such a folder is damage for verify of a CDN folder, and all else is checked', async () => {
  const folder = join(www, 'tpr/wow');
  const whole = JSON.parse((await startPakrat(['verify', `cdn:${folder}`, '--json']).ended).stdout) as VerifyResult;
  for (const kind of ['a loose object', 'a config']) {
    const lost = dirname(parts.get(kind)!);
    const { status, stdout } = await runLost(join(folder, lost), 'verify', `cdn:${folder}`, '--json');
    const { bad, checked } = JSON.parse(stdout) as VerifyResult;
    expect([kind, status, bad]).toEqual([
      kind,
      3,
      [{ name: lost, code: 'E_STORE', message: expect.stringContaining(unread) }],
    ]);
    expect(checked.entries).toBeGreaterThan(whole.checked.entries - 5);
    expect(checked.entries).toBeLessThan(whole.checked.entries);
  }
});

test('a folder of configs whose names a disk does not give is noted by whoever lists such a folder', async () => {
  const {
    build,
    cdn: lists,
    keyring,
  } = cdn.summary.configs as Record<'build' | 'cdn', { b: string }> & { keyring: string };
  const folder = join(www, 'tpr/wow');
  const lost = join(folder, 'config', keyring.slice(0, 2));
  expect([build.b, lists.b].some((hash) => hash.startsWith(keyring.slice(0, 2)))).toBe(false);
  const { status, said } = await runLost(lost, 'ls', `cdn:${folder}@${build.b}`);
  expect({ status, said }).toMatchObject({
    status: 0,
    said: expect.stringContaining(`configs in ${lost} cannot be read: EIO`),
  });
});

const folders = ['groups', 'manifests', 'marks', 'names', 'wants'];
const chosenFolders = someOf(folders, (folder) => /groups|names/.test(folder));

describe('a folder of look-up files whose names a disk does not give', () => {
  test.each(chosenFolders)('%s: verify names it and checks all else, forget and gc leave it', async (folder) => {
    const copy = scratch(`without ${folder}`);
    fs.cpSync(store, copy, { recursive: true });
    const lost = join(copy, folder);
    expect(fs.existsSync(lost)).toBe(true);
    const whole = JSON.parse(
      (await startPakrat(['verify', '--store', copy, '--offline', '--json']).ended).stdout,
    ) as VerifyResult;
    for (const how of [['--offline'], ['--repair', '--patch-url', cdn.url]]) {
      const { status, stdout } = await runLost(lost, 'verify', ...how, '--store', copy, '--json');
      const { bad, checked } = JSON.parse(stdout) as VerifyResult;
      const row = { name: folder, code: 'E_STORE', message: expect.stringContaining(unread) };
      const left = { ...whole.checked, entries: whole.checked.entries - fs.readdirSync(lost).length };
      expect({ status, bad, checked }).toEqual({ status: 3, bad: [row], checked: left });
    }
    const [build] = JSON.parse((await startPakrat(['status', '--store', copy, '--json']).ended).stdout).builds;
    const forgotten = await runLost(lost, 'forget', `wow@${build.name}`, '--store', copy);
    const note = `look-up files in ${lost} stay, for it cannot be read: EIO`;
    expect(forgotten).toMatchObject({ status: 0, said: expect.stringContaining(note) });
    expect(heldBut(copy, 'nothing')).toEqual([]);
  });
});

describe('a look-up file of which a disk gives the name alone', () => {
  const commands = [['verify', '--offline'], ['verify', '--repair'], ['sync', 'wow', '--all'], ['ls', 'wow'], ['gc']];

  test.each(someOf(commands, ([name, how]) => name === 'sync' || how === '--offline'))(
    'does not end %s: it is made anew, and its folder is set aside where it lies',
    async (...command) => {
      for (const folder of chosenFolders) {
        const copy = scratch(`without ${folder}, ${command.join(' ')}`);
        fs.cpSync(store, copy, { recursive: true });
        const [name] = fs.readdirSync(join(copy, folder));
        const lost = join(copy, folder, name!);
        const inode = fs.statSync(lost).ino;
        const { status, said } = await runLost(inode, ...command, '--patch-url', cdn.url, '--store', copy);
        const isNamed = said.includes(`${folder}/${name}: it is no plain file, or it cannot be read`);
        expect([folder, status, isNamed]).toEqual([
          folder,
          command[1] === '--offline' ? 3 : 0,
          command[0] === 'verify',
        ]);
        // Nothing was lost but that file, which each of them may do without.
        const checked = await runLost(inode, 'verify', '--repair', '--patch-url', cdn.url, '--store', copy);
        expect([folder, checked.status]).toEqual([folder, 0]);
        const asides = fs.readdirSync(join(copy, 'tmp')).filter((one) => one.startsWith('aside-'));
        expect(asides).toEqual([expect.stringMatching(new RegExp(`-${folder}$`))]);
        expect(fs.readdirSync(join(copy, 'tmp', asides[0]!))).toEqual([name]);
      }
    },
  );

  test('an imported list of names is imported again', async () => {
    const copy = scratch('without a list');
    fs.cpSync(store, copy, { recursive: true });
    const list = join(cdn.root, 'listfile.csv');
    const take = ['listfile', 'import', list, '--store', copy];
    expect(await startPakrat(take).ended).toMatchObject({ status: 0 });
    const names = fs.readdirSync(join(copy, 'names')).filter((name) => name.startsWith('listfile'));
    const lost = join(copy, 'names', names.find((name) => name.endsWith('.names'))!);
    const found = await runLost(lost, 'verify', '--offline', '--store', copy);
    expect(found).toMatchObject({ status: 3, said: expect.stringContaining('1 bad') });
    expect(await runLost(lost, ...take)).toMatchObject({ status: 0 });
    expect(await runLost(lost, 'ls', 'wow', '--offline', '--store', copy)).toMatchObject({ status: 0 });
  });
});

test('a store whose objects a disk does not list is no folder without objects for import', async () => {
  const { status, said } = await runLost(join(store, 'tpr'), 'import', store, '--store', scratch('none of it'));
  expect({ status, said }).toMatchObject({ status: 3, said: expect.stringContaining(`tpr: ${unread}`) });
});

const reason = whyNoDisk('ext4');
if (reason !== undefined) console.warn(`SKIPPED, ${reason}: a disk that lost files which processes share`);

(reason === undefined ? test : test.skip)('files that processes share, and a disk lost, do without', async () => {
  const [image, disk] = [scratch('image'), scratch('disk')];
  const copy = join(disk, 'store');
  const online = ['--store', copy, '--patch-url', cdn.url];
  const [archive, index] = ['an archive', 'an index'].map((kind) => join(copy, 'tpr/wow', parts.get(kind)!));
  const take = ['listfile', 'import', join(cdn.root, 'listfile.csv'), '--store', copy];
  makeImage(image, 'ext4', 32);
  mountImage(image, disk);
  fs.cpSync(store, copy, { recursive: true });
  expect((await startPakrat(take).ended).status).toBe(0);
  expect((await startPakrat(['gc', '--store', copy]).ended).status).toBe(0);
  for (const path of [archive!, index!]) fs.rmSync(path);
  await unmountImage(image, disk, 'keep');
  for (const name of ['claims.db', 'lock.db', 'names/listfile.lock']) loseInode(image, `/store/${name}`);
  mountImage(image, disk);
  try {
    expect(() => fs.statSync(join(copy, 'claims.db'))).toThrow();
    for (const command of [['sync', 'wow', '--all', ...online], ['gc', '--store', copy], take])
      expect([command[0], (await startPakrat(command).ended).status]).toEqual([command[0], 0]);
    await unmountImage(image, disk, 'keep');
    mendImage(image);
    mountImage(image, disk);
    for (const command of [['verify', '--offline', '--store', copy], ['sync', 'wow', '--all', ...online], take])
      expect([command[0], (await startPakrat(command).ended).status]).toEqual([command[0], 0]);
  } finally {
    await unmountImage(image, disk);
  }
});
