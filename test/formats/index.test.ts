import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as door from '../../src/formats/index.ts';
import { codeThrownBy, text } from './text.ts';

const folder = join(import.meta.dirname, '../../src/formats');
const key = (digit: string): string => digit.repeat(32);

/** Names and values of all that the files of the formats export. */
async function exportsOfFiles(): Promise<[name: string, value: unknown][]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.d)\.ts$/.test(name));
  const modules = await Promise.all(files.map((name) => import(join(folder, name))));
  return modules.flatMap((module) => Object.entries(module as object));
}

describe('the door of the formats', () => {
  test('has every decoder, encoder and format of the files behind it', async () => {
    const wanted = (await exportsOfFiles()).filter(
      ([name, value]) => (typeof value === 'function' && /^(de|en)code[A-Z]/.test(name)) || isFormat(value),
    );
    const missing = wanted.filter(([name, value]) => (door as Record<string, unknown>)[name] !== value);
    expect(missing.map(([name]) => name)).toEqual([]);
    expect(wanted.length).toBeGreaterThan(120);
  });

  test('is one of the package', () => {
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, unknown> };
    expect(exports['./formats']).toEqual({
      types: './dist/types/formats/index.d.ts',
      default: './dist/formats.js',
    });
  });
});

function isFormat(value: unknown): value is door.Format {
  return typeof value === 'object' && value !== null && 'matches' in value;
}

describe('through the door', () => {
  test('an encrypted object is made, and read at once or piece by piece', async () => {
    const [{ name, key: hex }] = door.decodeKeyList(text(`0123456789ABCDEF ${key('5')}`)) as [door.TactKey];
    const keys: door.KeyRing = { find: (wanted) => (wanted === name ? door.fromHex(hex) : undefined) };
    const espec = door.parseEspec(`b:{4=n,*=e:{${door.reverseName(name)},01020304,z}}`);
    const { bytes, ekey } = door.encodeBlte(text('one two three'), espec, { keys });
    expect(door.ekeyOfBlte(bytes)).toBe(ekey);
    expect(door.decodeBlte(bytes, { keys, ekey })).toEqual(text('one two three'));
    const pieces: Uint8Array[] = [];
    const read: door.ReadRange = async (offset, size) => bytes.subarray(offset, offset + size);
    for await (const piece of door.readBlte(read, bytes.length, { keys })) pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe('one two three');
    expect(codeThrownBy(() => door.decodeBlte(bytes))).toBe('E_KEY_MISSING');
  });

  test('an object that is encrypted as a whole is opened', () => {
    const stretch = { key: door.decodeArmadilloKey(door.encodeArmadilloKey(door.fromHex(key('a')))), hash: key('b') };
    const locked = door.armadillo(text('# Build Configuration'), { ...stretch, offset: 0 });
    expect(door.armadillo(locked.subarray(2), { ...stretch, offset: 2 })).toEqual(text('Build Configuration'));
  });

  test('entries of a manifest are chosen by their tags', () => {
    const tags = [
      { name: 'enUS', type: 3, mask: Uint8Array.of(0x80) },
      { name: 'deDE', type: 3, mask: Uint8Array.of(0x40) },
    ];
    const entries = ['a', 'b'].map((path) => ({ path, ckey: key('1'), size: 1 }));
    const install = door.decodeInstall(door.encodeInstall({ version: 1, tags, entries }));
    const mask = door.selectByTags(install.tags, ['enUS'], install.entries.length);
    expect(install.entries.filter((_, i) => door.hasTag(mask, i)).map(({ path }) => path)).toEqual(['a']);
  });

  test('names lead to contents: by hash, by locale, by the numbers of a TVFS path', () => {
    const hash = door.nameHash('interface/icons/inv_helm_armor_explorer_d_01.blp');
    const rows = [{ fileDataId: 5, ckey: door.fromHex(key('1')), nameHash: hash }];
    const blocks = [{ contentFlags: 0, localeFlags: door.localeFlag('enus'), rows }];
    const root = door.decodeWowRoot(door.encodeWowRoot({ form: 'tsfm2', blocks }));
    expect([door.fillFileDataIds(root)[0], door.toHex(door.rowNameHash(root, 0)!)]).toEqual([5, '770b8d2dc4d940aa']);
    expect(door.localeNames(root.blocks[0]!.localeFlags)).toEqual(['enUS']);
    expect(door.parseWowTvfsName(`0000000200000000:0000000a${key('3')}`)).toMatchObject({ fileDataId: 10 });
    expect([...door.decodeListfile(door.encodeListfile([{ fileDataId: 5, name: 'a' }]))]).toHaveLength(1);
  });

  test('a patch leads from one content to another', () => {
    const [old, made] = [text('one two'), text('one three two')];
    expect(door.applyZbsdiff(old, door.makeZbsdiff(old, made), { maxSize: 99 })).toEqual(made);
  });

  test('an entry of an index, a bucket of an installed game and a cell of a table are found', () => {
    const entry = { ekey: door.fromHex(key('2')), size: 7, offset: 9, archive: 0 };
    const { bytes, name } = door.encodeArchiveIndex([entry]);
    expect(door.decodeArchiveIndex(bytes, name).find(entry.ekey)).toEqual(entry);
    const local = { key: entry.ekey.slice(0, 9), archive: 1, offset: 2, size: 40 };
    const bucket = door.bucketOf(entry.ekey);
    expect(door.decodeLocalIndex(door.encodeLocalIndex({ bucket, sorted: [local] })).find(entry.ekey)).toEqual(local);
    const [row] = door.decodeBpsv(text('Region!STRING:0|Hosts!STRING:0', 'us|a b', '')).rows;
    expect(door.cell(row!, 'hosts')).toBe('a b');
    expect(door.decodeCdnConfig(text(`archives = ${name}`)).archives).toEqual([name]);
  });
});
