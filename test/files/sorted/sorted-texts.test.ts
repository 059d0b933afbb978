import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { SortedTexts } from '../../../src/files/sorted/sorted-texts.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

describe('SortedTexts', () => {
  test('sorts by bytes, whatever the characters, with equal ones in the order in which they came', () => {
    const texts = [
      'b',
      'a\0',
      'a',
      '',
      'a\x01',
      'a\0b',
      'ü',
      '\u{1f600}',
      '\uff5e',
      'B',
      'a',
      'a/b',
      'a.b',
      'a-b',
      'ab',
      'a',
      'b',
    ];
    const sorter = new SortedTexts(scratch('few'));
    for (const [i, text] of texts.entries()) sorter.add(text, Buffer.from(`${i}`));
    const inOrder = [...texts.entries()].sort(
      ([i, a], [j, b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)) || i - j,
    );
    for (const _ of [1, 2]) {
      const rows = Array.from(sorter.rows(), ({ text, beside }) => [Number(beside.toString()), text.toString()]);
      expect(rows).toEqual(inOrder);
    }
    // So few need no disk.
    expect(existsSync(scratch('few'))).toBe(false);
    sorter.add('\0', Buffer.alloc(1 << 23));
    expect(readdirSync(scratch('few'))).toHaveLength(1);
    expect(sorter.rows().next().value?.text.toString()).toBe('');
    sorter.close();
    expect(readdirSync(scratch('few'))).toEqual([]);
  });

  test.each([
    ['merges what does not fit into memory', 'many'],
    ['keeps all in memory where there is no folder', undefined],
  ])('%s, large texts among it', (_what, folder) => {
    const sorter = new SortedTexts(folder && scratch(folder), '.pakrat-');
    const textOf = (i: number): string => `folder ${(i * 7919) % 101}/${(i * 104_729) % 1000}`;
    const beside = Buffer.alloc(200);
    const amount = 200_000;
    for (let i = 0; i < amount; i++) {
      beside.writeUInt32BE(i);
      sorter.add(textOf(i), beside);
    }
    sorter.add('middle'.repeat(1_000_000), Buffer.alloc(20_000_000));
    let last = { text: '', i: -1 };
    let count = 0;
    for (const row of sorter.rows()) {
      count += 1;
      const text = row.text.toString();
      if (row.beside.length !== beside.length)
        expect([text.length, row.beside.length]).toEqual([6_000_000, 20_000_000]);
      const i = row.beside.readUInt32BE(0);
      const isBehind = last.text < text || (last.text === text && last.i < i);
      if (!isBehind || (row.beside.length === beside.length && text !== textOf(i))) throw new Error(`${text} ${i}`);
      last = { text, i };
    }
    expect(count).toBe(amount + 1);
    if (folder !== undefined) expect(readdirSync(scratch(folder))).toEqual([expect.stringMatching(/^\.pakrat-.*tmp$/)]);
    sorter.close();
  });
});

test('what cannot be written is trouble of the disk', () => {
  const texts = new SortedTexts('/dev/null');
  const add = (): void => {
    for (let i = 0; i < 10_000; i++) texts.add('x'.repeat(1000), Uint8Array.of(1));
  };
  expect(add).toThrow(expect.objectContaining({ code: 'E_STORE' }));
});
