import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { listfilePaths } from '../../../../src/builds/listfile/listfile-paths.ts';
import { ListfileLookups } from '../../../../src/builds/listfile/write/listfile-lookups.ts';
import { ListfileWriter } from '../../../../src/builds/listfile/write/listfile-writer.ts';
import { ListfileScanner } from '../../../../src/formats/roots/listfile.ts';
import { readDerived } from '../../../../src/store/derived/derived-file.ts';
import { type StoreLayout, storeLayout } from '../../../../src/store/layout.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const scratch = scratchFolder();
let number = 0;
const store = (): StoreLayout => storeLayout(scratch(`s${number++}`));

/** Writes a list, and gives the files of its version. */
async function written(list: string, memory?: number): Promise<{ text: Buffer; ids: Buffer; hashes: Buffer }> {
  const layout = store();
  const writer = new ListfileWriter(layout, { memory });
  const scanner = new ListfileScanner();
  for (const pieces of [scanner.pushBytes(Buffer.from(list)), scanner.endBytes()]) {
    for (const rows of pieces) writer.addRows(rows);
  }
  await writer.finish('listfile-1');
  await writer.close();
  const { text, ids, hashes } = listfilePaths(layout, 'listfile-1');
  return { text: readFileSync(text), ids: readFileSync(ids), hashes: readFileSync(hashes) };
}

/** What is in a derived file, before its table and its footer of 28 bytes. */
function contentOf(file: Buffer): Buffer {
  return file.subarray(0, file.readUIntBE(file.length - 24, 6));
}

/** Lines in no order, of folders within folders, some names and ids of them twice. */
function lines(count: number, line: (id: number, name: string) => string): string {
  let list = '';
  for (let i = 0; i < count; i++) {
    const mixed = Math.imul(i, 0x9e3779b1) >>> 0;
    const folder = ['a/b', 'a', 'a/b-c', 'A\\b', 'ü/ö', '', 'a/b/c'][mixed % 7]!;
    list += line(mixed % 3000, `${folder}${folder && '/'}n${(mixed >>> 8) % 2500}`);
  }
  return list;
}

/** Bytes of the text as they have to be: by the definition. */
function textOf(list: string): Buffer {
  const rows = list
    .split(/\r?\n/)
    .filter((line) => line !== '')
    .map((line) => (/^(\d*);(.*)$/.exec(line) ?? [line, '', line]) as [string, string, string])
    .map(([, id, name]) => ({ id: id.replace(/^0+(?=.)/, ''), name: Buffer.from(name) }));
  const last = new Map(rows.map(({ id }, i) => [id, i]));
  const kept = rows.filter(({ id }, i) => id === '' || last.get(id) === i);
  kept.sort((a, b) => Buffer.compare(a.name, b.name));
  return Buffer.concat(kept.flatMap(({ id, name }) => [Buffer.from(`${id};`), name, Buffer.from('\n')]));
}

describe('a written list', () => {
  test.each([
    ['ids', (id: number, name: string) => `${id};${name}\n`],
    ['line ends of two characters', (id: number, name: string) => `${id};${name}\r\n`],
    ['zeros before ids', (id: number, name: string) => `${String(id).padStart(9, '0')};${name}\n`],
    ['some names without an id', (id: number, name: string) => (id % 3 === 0 ? `;${name}\n` : `${id};${name}\n`)],
    ['blank lines and comments', (id: number, name: string) => `${id};${name}\n\n# ${id}\n`],
    ['names alone', (_: number, name: string) => `${name}\n`],
  ])('with %s is sorted by the bytes of its names, the same in memory and on disk', async (kind, line) => {
    const list = lines(6000, line);
    const whole = await written(list);
    expect(contentOf(whole.text)).toEqual(textOf(kind.startsWith('blank') ? list.replace(/# .*\n/g, '') : list));
    for (const memory of [0, 100_000]) expect(await written(list, memory)).toEqual(whole);
  });

  test('rows that are too many for the memory are the same', async () => {
    const layout = store();
    const write = async (base: string, most?: number): Promise<Buffer[]> => {
      const lookups = new ListfileLookups(layout, most === undefined ? {} : { most });
      for (let i = 0; i < 5000; i++) {
        const bytes = Buffer.from(`a/n${i % 4000}`);
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        // Offsets beyond 32 bits are told as well.
        const at = i * 0x200001;
        const id = i % 9 === 0 ? undefined : (Math.imul(i, 0x9e3779b1) >>> 0) % 3000;
        lookups.add(id, { view, start: 0, end: bytes.length }, { at, size: bytes.length });
      }
      await lookups.write(base, 1);
      lookups.close();
      const { ids, hashes } = listfilePaths(layout, base);
      return [ids, hashes].map((path) => Buffer.from(readDerived(path)));
    };
    const whole = await write('listfile-1');
    expect(whole[1]!.length).toBe(5000 * 19);
    expect(whole[0]!.length).toBeLessThan(3000 * 19);
    for (const most of [100, 1000, 5000]) expect(await write(`listfile-${most}`, most)).toEqual(whole);
  });
});
