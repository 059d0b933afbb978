import { describe, expect, test } from '@jest/globals';
import { bpsvFormat, cell, decodeBpsv, encodeBpsv } from '../../../src/formats/services/bpsv.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy, htmlPage, text } from '../text.ts';

const versions = text(
  'Region!STRING:0|BuildConfig!HEX:16|KeyRing!HEX:16|BuildId!DEC:4|VersionsName!String:0',
  '## seqn = 35202',
  'us|4EB3986466EC004FFA1755642B375A87||27291|8.0.1.27291',
  'eu|4eb3986466ec004ffa1755642b375a87||27292|8.0.1.27292',
  '',
);

describe('a table', () => {
  test('has columns, rows by column name and a sequence number', () => {
    const table = decodeBpsv(versions);
    expect(table.columns[3]).toEqual({ name: 'BuildId', type: 'DEC', size: 4 });
    expect(table.columns[4]?.type).toBe('String');
    expect(table.seqn).toBe(35202);
    expect(table.rows.map((row) => row.BuildId)).toEqual(['27291', '27292']);
    expect(table.rows[0]).toMatchObject({ BuildConfig: '4EB3986466EC004FFA1755642B375A87', KeyRing: '' });
  });

  test('reads the same with CRLF, blank lines and the sequence number elsewhere', () => {
    const lines = new TextDecoder().decode(versions).split('\n');
    const [header, seqn, us, eu] = lines as [string, string, string, string];
    const odd = new TextEncoder().encode([seqn.replace('seqn', 'SEQN'), '', header, us, '', eu].join('\r\n'));
    const { frame: _, ...values } = decodeBpsv(versions);
    expect(decodeBpsv(odd)).toMatchObject(values);
    expect(encodeBpsv(decodeBpsv(odd))).toEqual(odd);
    expect(decodeBpsv(text(header, us)).seqn).toBeUndefined();
  });

  test('of 2015 has a mark before a size, and is written so again', () => {
    const odd = text('Region!STRING:0|BuildConfig!HEX:16|CDNConfig!HEX:!16', 'us|aa|bb', '');
    const table = decodeBpsv(odd);
    expect(table.columns[2]).toMatchObject({ name: 'CDNConfig', type: 'HEX', size: 16 });
    expect(cell(table.rows[0]!, 'CDNConfig')).toBe('bb');
    expect(encodeBpsv(table)).toEqual(odd);
    expect(bpsvFormat.matches(text('CDNConfig!HEX:!16|BuildId!DEC:4', ''))).toBe(true);
  });

  test('without a body has no columns', () => {
    for (const empty of ['', '\r\n', ' \n\n']) {
      expect(decodeBpsv(text(empty))).toMatchObject({ columns: [], rows: [] });
      expect(encodeBpsv(decodeBpsv(text(empty)))).toEqual(text(empty));
    }
    expect(decodeBpsv(text('A!STRING:0', '## seqn = 5'))).toMatchObject({ seqn: 5, rows: [] });
  });

  test('comes back from its own bytes', () => {
    expect(new TextDecoder().decode(encodeBpsv(decodeBpsv(versions)))).toBe(new TextDecoder().decode(versions));
  });

  test('has its sequence number where it was, or behind the header', () => {
    const written = (bytes: Uint8Array, seqn: number | undefined) =>
      new TextDecoder().decode(encodeBpsv({ ...decodeBpsv(bytes), seqn }));
    const [numbered, plain] = [
      text('A!DEC:4', '1', '## seqn = 5', '# end', '2', ''),
      text('A!DEC:4', '1', '# end', ''),
    ];
    expect(written(numbered, 6)).toBe('A!DEC:4\n1\n## seqn = 6\n# end\n2\n');
    expect(written(numbered, undefined)).toBe('A!DEC:4\n1\n# end\n2\n');
    expect(written(plain, 6)).toBe('A!DEC:4\n## seqn = 6\n1\n# end\n');
  });

  test('is not made of an error page, of binary data or of a row that was cut off', () => {
    expect(codeThrownBy(() => decodeBpsv(htmlPage))).toBe('E_FORMAT');
    expect(codeThrownBy(() => decodeBpsv(text('Not Found')))).toBe('E_FORMAT');
    expect(codeThrownBy(() => decodeBpsv(new Uint8Array([0x41, 0, 1, 2])))).toBe('E_FORMAT');
    expect(codeThrownBy(() => decodeBpsv(versions.subarray(0, -5)))).toBeUndefined();
    expect(codeThrownBy(() => decodeBpsv(versions.subarray(0, -25)))).toBe('E_FORMAT');
  });

  test('cannot be written with a bar in a cell', () => {
    const table = { columns: [{ name: 'A', type: 'STRING', size: 0 }], seqn: undefined, rows: [{ A: 'x|y' }] };
    expect(codeThrownBy(() => encodeBpsv(table))).toBe('E_FORMAT');
  });

  test('keeps a column with a name of the language as a plain value', () => {
    const [row] = decodeBpsv(text('__proto__!STRING:0|B!STRING:0', 'x|y')).rows;
    expect(Object.keys(row!)).toEqual(['__proto__', 'B']);
    expect(cell(row!, '__proto__')).toBe('x');
  });

  test('survives anything', () => {
    expectHostileSafe(decodeBpsv, versions, { prefixesFail: false });
  });
});

describe('a cell', () => {
  const row = { VersionsName: '8.0.1', Keyring: '', Region: 'us' };
  test('is found by any of its names, whatever their case', () => {
    expect(cell(row, 'VersionName', 'VersionsName')).toBe('8.0.1');
    expect(cell(row, 'region')).toBe('us');
  });
  test('is undefined when empty or absent', () => {
    expect(cell(row, 'KeyRing')).toBeUndefined();
    expect(cell(row, 'KeyRing', 'Region')).toBeUndefined();
    expect(cell(row, 'BuildId')).toBeUndefined();
  });
});
