import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { isPakratError } from '../../../src/core/errors.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { decodeListfile, encodeListfile, ListfileScanner, readListfile } from '../../../src/formats/roots/listfile.ts';
import type { ListfileRow } from '../../../src/formats/roots/listfile-rows.ts';
import { builtModule } from '../../support/built-module.ts';
import { describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe, randomSource } from '../../support/hostile.ts';
import { makeSyntheticCdn } from './synthetic-cdn.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const rowsOf = (text: string) => [...decodeListfile(utf8(text))].map(({ fileDataId, name }) => [fileDataId, name]);

function refusal(bytes: Uint8Array | string): { code: string; message: string } {
  try {
    for (const _ of decodeListfile(typeof bytes === 'string' ? utf8(bytes) : bytes));
  } catch (error) {
    return isPakratError(error) ? error : { code: 'stray', message: String(error) };
  }
  return { code: 'none', message: '' };
}

describe('reading', () => {
  test('ids and names, plain names, ids missing, blank lines, CR LF, a byte order mark, no line end at the end', () => {
    const text =
      '\ufeff121595;Interface/Icons/A.blp\r\n\r\n;World\\Maps\\b.adt\n   \nplain name.txt\r\n\n0;z\n4294967295;last';
    expect(rowsOf(text)).toEqual([
      [121595, 'Interface/Icons/A.blp'],
      [undefined, 'World\\Maps\\b.adt'],
      [undefined, 'plain name.txt'],
      [0, 'z'],
      [4294967295, 'last'],
    ]);
    expect(rowsOf('')).toEqual([]);
    expect(rowsOf('\ufeff')).toEqual([]);
  });

  test('lines of every length, at every place of the pieces that are gone through', () => {
    // Pieces of 64 KiB, each with the most that a line may leave over for the next.
    const names = Array.from({ length: 4000 }, (_, i) => 'n'.repeat(1 + ((i * 37) % 1020)) + (i % 10));
    for (const end of ['\n', '\r\n']) {
      expect(rowsOf(names.map((name, i) => `${i};${name}${end}`).join(''))).toEqual(names.map((name, i) => [i, name]));
      expect(rowsOf(names.map((name) => `${name}${end}`).join(''))).toEqual(names.map((name) => [undefined, name]));
    }
    const full = `1;${'a'.repeat(65_533 - 1024)}`;
    expect(refusal(`${full}\n`).code).toBe('E_FORMAT_RANGE');
    const bad = new ListfileScanner(() => {});
    // What is left of the first piece, with all of the second behind it, fills the memory to the last byte.
    const first = utf8(`\n12;${'y'.repeat(65_532)}`);
    const second = utf8(`${'z'.repeat(65_535)}\n`);
    expect([...bad.push(first), ...bad.push(second), ...bad.push(utf8('2;y\n'))]).toEqual([
      { fileDataId: 2, name: 'y' },
    ]);
  });

  test('names are kept as written', () => {
    expect(rowsOf('1; spaced  name \n2;a;b;c\n3;Zürich/日本/😀.txt\n0042;x\n1000.blp\n77\n')).toEqual([
      [1, ' spaced  name '],
      [2, 'a;b;c'],
      [3, 'Zürich/日本/😀.txt'],
      [42, 'x'],
      [undefined, '1000.blp'],
      [undefined, '77'],
    ]);
  });

  test('a byte order mark further down belongs to its name', () => {
    expect(rowsOf('a\n\ufeffb\n')).toEqual([
      [undefined, 'a'],
      [undefined, '\ufeffb'],
    ]);
  });

  test('so does one at the start of a later chunk', () => {
    const scanner = new ListfileScanner();
    const rows = ['\ufeffa\n', '\ufeffb\n'].flatMap((text) => scanner.push(utf8(text)));
    expect(rows.map(({ name }) => name)).toEqual(['a', '\ufeffb']);
  });

  test('chunks cut anywhere give the same rows, also when the caller fills its buffer anew', () => {
    const rows = Array.from({ length: 300 }, (_, i) => ({
      fileDataId: i * 7,
      name: `straße/${i}/日本-${'x'.repeat(i)}`,
    }));
    const bytes = encodeListfile(rows);
    const random = randomSource(5);
    for (const most of [1, 3, 50, 1000, 100_000]) {
      const scanner = new ListfileScanner();
      const found: ListfileRow[] = [];
      const buffer = Buffer.alloc(100_000);
      for (let start = 0; start < bytes.length; ) {
        const chunk = bytes.subarray(start, start + 1 + Math.floor(random() * most));
        buffer.set(chunk);
        found.push(...scanner.push(buffer.subarray(0, chunk.length)));
        start += chunk.length;
      }
      found.push(...scanner.end());
      expect(found).toEqual(rows);
    }
  });
});

test('a list that is being read', async () => {
  async function* chunks() {
    for (const text of ['1;a\n2', ';b\n', '', '3;c']) yield utf8(text);
  }
  const names: string[] = [];
  for await (const { fileDataId, name } of readListfile(chunks())) names.push(`${fileDataId} ${name}`);
  expect(names).toEqual(['1 a', '2 b', '3 c']);
});

describe('refusing', () => {
  test.each([
    ['1;a\n2;b\nx;c\n4;d\n', 'E_FORMAT', 'line 3:'],
    ['1;a\n2;\n', 'E_FORMAT', 'line 2:'],
    ['\n\n;\n', 'E_FORMAT', 'line 3:'],
    ['-1;a\n', 'E_FORMAT', 'line 1:'],
    ['1;a\n4294967296;b\n', 'E_FORMAT_RANGE', 'line 2:'],
    [`1;a\n2;${'n'.repeat(1025)}\n`, 'E_FORMAT_RANGE', 'line 2:'],
    [`1;a\n2;${'日'.repeat(342)}\n`, 'E_FORMAT_RANGE', 'line 2:'],
    ['1;a\n2;b\0c\n', 'E_FORMAT', 'line 2:'],
  ])('%j', (text, code, line) => {
    const error = refusal(text);
    expect(error.code).toBe(code);
    expect(error.message).toContain(line);
  });

  test('a name of 1,024 bytes is the longest', () => {
    expect(rowsOf(`4294967295;${'n'.repeat(1024)}\r\n`)[0]![1]).toHaveLength(1024);
    expect(rowsOf(`1;${'日'.repeat(341)}`)[0]![1]).toHaveLength(341);
  });

  test('bytes that are no UTF-8, with their line', () => {
    const bytes = utf8('1;a\n2;Zürich\n3;c\n');
    bytes[bytes.indexOf(0xc3)] = 0xff;
    expect(refusal(bytes)).toMatchObject({ code: 'E_FORMAT', message: expect.stringContaining('line 2:') });
  });

  test('a line without end fills no memory', () => {
    const scanner = new ListfileScanner();
    let pushed = 0;
    try {
      for (; pushed < 100; pushed++) scanner.push(new Uint8Array(100).fill(0x61));
    } catch (error) {
      expect(isPakratError(error) && error.code).toBe('E_FORMAT_RANGE');
    }
    expect(pushed).toBeLessThan(12);
  });

  test('hostile forms', () => {
    const bytes = encodeListfile(Array.from({ length: 200 }, (_, i) => ({ fileDataId: i, name: `dir/ä-${i}.blp` })));
    expectHostileSafe((changed) => [...decodeListfile(changed)], bytes, { prefixesFail: false });
  });
});

describe('writing', () => {
  test('what was written reads the same', () => {
    const rows: ListfileRow[] = [
      { fileDataId: undefined, name: '\ufeffmarked' },
      { fileDataId: 5, name: 'a/b c.txt' },
      { fileDataId: undefined, name: 'plain' },
      { fileDataId: undefined, name: 'semi;colon' },
      { fileDataId: undefined, name: '  ' },
      { fileDataId: 4294967295, name: '\ufeff日本' },
    ];
    const bytes = encodeListfile(rows);
    expect([...decodeListfile(bytes)]).toEqual(rows);
    expect(new TextDecoder().decode(bytes)).toContain('\n5;a/b c.txt\nplain\n;semi;colon\n');
  });

  test.each([
    { fileDataId: 1, name: '' },
    { fileDataId: 1, name: 'a\nb' },
    { fileDataId: 1, name: 'a\r' },
    { fileDataId: -1, name: 'a' },
    { fileDataId: 2 ** 32, name: 'a' },
    { fileDataId: 1, name: 'n'.repeat(1025) },
  ])('%j is refused', (row) => {
    let code = 'none';
    try {
      encodeListfile([row]);
    } catch (error) {
      code = isPakratError(error) ? error.code : 'stray';
    }
    expect(code).toBe('E_FORMAT_RANGE');
  });
});

describeConformance('lists of a generator that is not ours', () => {
  test('ids and names, names alone, and the same bytes again', () => {
    const cdn = makeSyntheticCdn();
    const [withIds, plain] = [utf8(cdn.text('listfile.csv')), utf8(cdn.text('listfile.txt'))];
    const truth = new Map(cdn.truth('build-a').map((row) => [Number(row.fdid), row.name]));
    cdn.remove();
    const rows = [...decodeListfile(withIds)];
    expect(rows.length).toBe(301);
    const known = rows.filter(({ fileDataId }) => truth.has(fileDataId!));
    expect(known.every(({ fileDataId, name }) => truth.get(fileDataId!) === name)).toBe(true);
    expect(known.length).toBe(truth.size);
    expect([...decodeListfile(plain)]).toEqual(rows.map(({ name }) => ({ fileDataId: undefined, name })));
    expect(md5Hex(encodeListfile(decodeListfile(withIds)))).toBe(md5Hex(withIds));
    expect(md5Hex(encodeListfile(decodeListfile(plain)))).toBe(md5Hex(plain));
  });
});

const listfileModule = builtModule('src/formats/roots/listfile.ts');

test('a list as long as the real one: two million lines, read in a process that could not hold them', () => {
  const script = `
    import { ListfileScanner } from ${JSON.stringify(listfileModule)};
    const line = (_, i) => (1_000_000 + i) + ';world/maps/zone_' + (i % 97) + '/textures/tile_' + i + '_lod.blp\\n';
    const chunk = new TextEncoder().encode(Array.from({ length: 1000 }, line).join(''));
    const scanner = new ListfileScanner();
    let rows = 0;
    let sum = 0;
    for (let i = 0; i < 2000; i++) for (const { fileDataId } of scanner.push(chunk)) { rows++; sum += fileDataId; }
    console.log(rows, sum, scanner.end().length);`;
  // The rows would be over 200 MB.
  const args = ['--max-old-space-size=48', '--input-type=module', '--eval', script];
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
  expect({ status, stdout }).toEqual({ status: 0, stdout: `2000000 ${2_000_000 * 1_000_499.5} 0\n` });
}, 60_000);
