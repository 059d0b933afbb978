import { expect, test } from '@jest/globals';
import { renderAnswer } from '../../../src/cli/product-command.ts';
import { renderFields, renderTable } from '../../../src/cli/terminal/table.ts';
import { textWidth } from '../../../src/cli/terminal/text.ts';
import { decodeBpsv } from '../../../src/formats/services/bpsv.ts';

const columns = [{ title: 'NAME' }, { title: 'SIZE', align: 'right' as const }];

test('columns line up, numbers on the right, no blanks at the ends', () => {
  expect(
    renderTable(columns, [
      ['a.blp', '7'],
      ['interface/icon.blp', '1234'],
    ]),
  ).toBe(['NAME                SIZE', 'a.blp                  7', 'interface/icon.blp  1234'].join('\n'));
  expect(renderTable(columns, [])).toBe('NAME  SIZE');
});

test('on a terminal no line is longer than it; elsewhere nothing is cut', () => {
  const rows = [
    ['x'.repeat(100), '1'],
    ['魔'.repeat(60), '22'],
  ];
  for (const line of renderTable(columns, rows, 40).split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(40);
  expect(renderTable(columns, rows, 40)).toContain('…');
  expect(renderTable(columns, rows, 40)).toContain('  22');
  expect(renderTable(columns, rows)).toContain('x'.repeat(100));
});

test('columns of one width are cut alike', () => {
  const [line] = renderTable([{ title: 'a'.repeat(50) }, { title: 'b'.repeat(50) }], [], 42).split('\n');
  expect(line).toBe(`${'a'.repeat(19)}…  ${'b'.repeat(19)}…`);
});

test('a name cannot break out of its cell', () => {
  expect(renderTable(columns, [['a\nb\x1b[2J', '1']]).split('\n')).toHaveLength(2);
});

test('fields: lists take a line each, nothing is a dash', () => {
  expect(
    renderFields(
      [
        ['Hosts', ['a', 'b']],
        ['KeyRing', ''],
        ['None', []],
      ],
      ' ',
    ),
  ).toBe([' Hosts    a', '          b', ' KeyRing  -', ' None     -'].join('\n'));
});

test('regions that share a row stand together', () => {
  const { columns, rows } = decodeBpsv(
    new TextEncoder().encode('Region!STRING:0|BuildId!DEC:4|Hosts!STRING:0\nus|1|h1 h2\neu|1|h1 h2\ncn|2|h3\n'),
  );
  const text = renderAnswer(columns, rows);
  expect(text).toBe(
    ['Region   us eu', 'BuildId  1', 'Hosts    h1', '         h2', '', 'Region   cn', 'BuildId  2', 'Hosts    h3'].join(
      '\n',
    ),
  );
});
