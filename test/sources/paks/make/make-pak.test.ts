import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { OnProgress } from '../../../../src/core/progress.ts';
import { processMark } from '../../../../src/files/temporary.ts';
import { encodePacklist } from '../../../../src/paks/nadeo/keys/packlist.ts';
import { decodePackList } from '../../../../src/sources/paks/make/pack-inputs.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { withPakrat } from '../../../support/with-pakrat.ts';

const scratch = scratchFolder();
const key = 'ab'.repeat(16);

function write(name: string, text: string): string {
  const path = scratch(name);
  mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function contents(pak: string, pakOptions = {}): Promise<Record<string, string>> {
  return withPakrat({}, async (pakrat) => {
    const source = await pakrat.open(pak, { pak: pakOptions });
    const all: Record<string, string> = {};
    for await (const { name } of source.list()) all[name] = Buffer.from(await source.bytes(name)).toString();
    return all;
  });
}

test('a file whose name is not UTF-8 is not left out in silence', async () => {
  write('latin/ok', 'A');
  try {
    writeFileSync(Buffer.from(scratch('latin/gr\u00fcn'), 'latin1'), 'B');
  } catch {
    // Not every system takes such names.
    return;
  }
  await withPakrat({}, async (pakrat) => {
    const refused = { code: 'E_USAGE', message: expect.stringContaining('not UTF-8') };
    await expect(pakrat.pack.quake(scratch('latin.pak'), scratch('latin'))).rejects.toMatchObject(refused);
    const publishing = pakrat.publish(scratch('latin'), { product: 'p', to: scratch('latin-cdn') });
    await expect(publishing).rejects.toMatchObject(refused);
  });
});

test('what is no file is left out, and that is said', async () => {
  write('links/ok', 'A');
  symlinkSync('ok', scratch('links/same'));
  for (const name of ['to-nothing', 'up']) symlinkSync(name === 'up' ? '..' : 'nothing', scratch('links', name));
  const notes: string[] = [];
  const onProgress: OnProgress = (event) => event.type === 'note' && notes.push(event.text);
  await withPakrat({}, (pakrat) => pakrat.pack.quake(scratch('links.pak'), scratch('links'), { onProgress }));
  expect(await contents(scratch('links.pak'))).toEqual({ ok: 'A', same: 'A' });
  expect(notes).toEqual([expect.stringMatching(/no link to one: .*to-nothing and 1 more$/)]);
});

test('what a killed run left is not packed, where the PAK lies in its own folder', async () => {
  write('own/a', 'A');
  const host = processMark().split('-').at(-1);
  write(`own/.pakrat-4194305-1-${host}-0-1.tmp`, 'half');
  await withPakrat({}, (pakrat) => pakrat.pack.quake(scratch('own/pak0.pak'), scratch('own')));
  expect(await contents(scratch('own/pak0.pak'))).toEqual({ a: 'A' });
  expect(readdirSync(scratch('own')).sort()).toEqual(['a', 'pak0.pak']);
});

test('several folders, files and a list go into one PAK', async () => {
  write('one/maps/a.bsp', 'A');
  write('two/gfx/b.lmp', 'B');
  const single = write('three/c.txt', 'C');
  const list = write('list.txt', `\uFEFF# files\n\n${single};texts/c.txt\r\n${scratch('two')};more\n`);
  await withPakrat({}, async (pakrat) => {
    const out = scratch('several.pak');
    await pakrat.pack.quake(out, [scratch('one'), scratch('two')], { list });
    expect(await contents(out)).toEqual({
      'maps/a.bsp': 'A',
      'gfx/b.lmp': 'B',
      'texts/c.txt': 'C',
      'more/gfx/b.lmp': 'B',
    });
    const only = scratch('only.pak');
    await pakrat.pack.unreal(only, [], { list: [Buffer.from(`${single};c.txt\n`)] as never });
    expect(await contents(only)).toEqual({ 'c.txt': 'C' });
    // A file by itself has no name that begins in the root of the disk.
    await expect(pakrat.pack.quake(scratch('n.pak'), single)).rejects.toMatchObject({
      code: 'E_USAGE',
      hint: expect.stringContaining('FILE;NAME'),
    });
    await expect(pakrat.pack.quake(scratch('n.pak'), scratch('nowhere'))).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
    });
    await expect(pakrat.pack.quake(scratch('n.pak'), `${single}/x`)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    await expect(pakrat.pack.quake(scratch('n.pak'), [])).rejects.toMatchObject({ code: 'E_USAGE' });
    await expect(pakrat.pack.quake(scratch('n.pak'), scratch('one'), { replace: { a: single } })).rejects.toMatchObject(
      {
        hint: expect.stringContaining('--like'),
      },
    );
  });
  expect(readdirSync(scratch())).not.toContain('n.pak');
});

test.each([
  ['a;', 'nothing behind its semicolon'],
  [';b', 'names no file'],
  ['a;b;c', 'too many fields'],
])('the line %j of a list is refused', (line, problem) => {
  expect(() => decodePackList(Buffer.from(`ok\n${line}\n`))).toThrow(`line 2: `);
  expect(() => decodePackList(Buffer.from(`ok\n${line}\n`))).toThrow(problem);
});

test.each(['quake', 'unreal', 'nadeo'] as const)('pack %s: extract, edit, pack --like', async (family) => {
  const folder = `${family} in`;
  for (const name of ['z/first.txt', 'a/second.txt', 'third.txt']) write(`${folder}/${name}`, `${name} `.repeat(50));
  const old = scratch(`${family} old.pak`);
  const options = family === 'quake' ? {} : { key: [key.repeat(family === 'unreal' ? 2 : 1)] };
  const form = family === 'unreal' ? { version: '5', compress: 'zlib' as const, mountPoint: '../../../G/' } : {};
  await withPakrat({}, async (pakrat) => {
    await pakrat.pack[family](old, scratch(folder), { ...options, ...form } as never);
    const out = `${family} out`;
    await pakrat.extract(old, { to: scratch(out), pak: options });
    const same = scratch(`${family} same.pak`);
    expect(await pakrat.pack[family](same, scratch(out), { like: old, ...options })).toMatchObject({
      files: 3,
      kept: 3,
    });
    expect(readFileSync(same).equals(readFileSync(old))).toBe(true);
    const edited = write(`${out}/a/second.txt`, 'edited');
    const made = scratch(`${family} new.pak`);
    const events: { done: number; total: number }[] = [];
    const onProgress = (event: { type: string }): void => void (event.type === 'bytes' && events.push(event as never));
    const report = await pakrat.pack[family](made, scratch(out), {
      like: old,
      ...options,
      onProgress: onProgress as never,
    });
    expect(report).toMatchObject({ files: 3, kept: 2, notes: [] });
    expect(events.at(-1)?.done).toBe(events.at(-1)?.total);
    expect(await contents(made, options)).toEqual({ ...(await contents(old, options)), 'a/second.txt': 'edited' });
    const replaced = scratch(`${family} replaced.pak`);
    await pakrat.pack[family](replaced, [], { like: old, replace: { './a/second.txt': edited }, ...options });
    expect(readFileSync(replaced).equals(readFileSync(made))).toBe(true);
    expect((await pakrat.verify(made, { pak: options })).bad).toEqual([]);
    write(`${out}/new/other.txt`, 'other');
    const more = scratch(`${family} more.pak`);
    expect(await pakrat.pack[family](more, scratch(out), { like: old, ...options })).toMatchObject({
      files: 4,
      kept: 2,
    });
    expect(await contents(more, options)).toEqual({ ...(await contents(made, options)), 'new/other.txt': 'other' });
    // The older one may be written over.
    await pakrat.pack[family](old, [], { like: old, replace: { 'index:0': edited }, force: true, ...options });
    expect(Object.values(await contents(old, options)).filter((text) => text === 'edited')).toHaveLength(1);
  });
});

test('keys of packs that were imported open an older NadeoPak', async () => {
  const entries = [{ name: 'like', flags: 0, keyString: key.toUpperCase() }];
  const list = scratch('packlist.dat');
  mkdirSync(scratch('elsewhere'));
  writeFileSync(
    list,
    encodePacklist({ version: 1, game: 'trackmania', productCrc: 0, salt: 5, signed: true, entries }),
  );
  const folder = write('n/x.txt', 'x').slice(0, -6);
  await withPakrat({ store: scratch('store') }, async (pakrat) => {
    const like = scratch('elsewhere', 'like.pak');
    await pakrat.pack.nadeo(like, folder, { key: [key] });
    await expect(pakrat.pack.nadeo(scratch('no.pak'), [], { like })).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
    await pakrat.keys.import([list]);
    const replace = { 'x.txt': write('n2/y.txt', 'y') };
    await pakrat.pack.nadeo(scratch('keyed.pak'), [], { like, replace });
    expect(await contents(scratch('keyed.pak'), { key })).toEqual({ 'x.txt': 'y' });
  });
});

test('--like refuses what does not go together', async () => {
  const file = write('f/x.txt', 'x');
  await withPakrat({}, async (pakrat) => {
    const like = scratch('like.pak');
    await pakrat.pack.unreal(like, scratch('f'));
    const out = scratch('no.pak');
    await expect(pakrat.pack.unreal(out, [], { like, compress: 'zlib' })).rejects.toMatchObject({ code: 'E_USAGE' });
    await expect(pakrat.pack.quake(out, [], { like })).rejects.toMatchObject({
      hint: expect.stringContaining('pack unreal'),
    });
    await expect(pakrat.pack.nadeo(out, [], { like, author: 'me' })).rejects.toMatchObject({ code: 'E_USAGE' });
    await expect(pakrat.pack.unreal(out, [], { like, replace: { y: file } })).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
    });
    await expect(pakrat.pack.unreal(out, [], { like, replace: { 'x.txt': scratch('f') } })).rejects.toMatchObject({
      code: 'E_USAGE',
    });
    const { notes } = await pakrat.pack.unreal(out, write('g/y.txt', 'y').slice(0, -6), { like });
    expect(notes).toEqual(['left out, for the files have no such name: x.txt']);
  });
});
