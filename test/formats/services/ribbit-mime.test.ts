import { describe, expect, test } from '@jest/globals';
import { concatBytes, toHex } from '../../../src/core/bytes.ts';
import { sha256 } from '../../../src/core/hash.ts';
import { decodeRibbit, encodeRibbit } from '../../../src/formats/services/ribbit-mime.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy, htmlPage, text } from '../text.ts';

const table = text('Region!STRING:0', '## seqn = 5', 'us', '');

function seal(message: string): Uint8Array {
  const bytes = new TextEncoder().encode(message);
  return concatBytes([bytes, new TextEncoder().encode(`Checksum: ${toHex(sha256(bytes))}\r\n`)]);
}

describe('a Ribbit answer', () => {
  test('holds the table and says what it is', () => {
    const answer = decodeRibbit(encodeRibbit({ data: table, disposition: 'versions' }));
    expect(answer.disposition).toBe('versions');
    expect(new TextDecoder().decode(answer.data)).toBe(new TextDecoder().decode(table));
  });

  test('may have the signature before the table, and an unquoted boundary', () => {
    const parts = [
      '--xy',
      'Content-Disposition: signature',
      '',
      'AAAA',
      '--xy',
      'content-disposition: cdns; x=1',
      '',
      'table',
      '--xy--',
      '',
    ];
    const answer = decodeRibbit(seal(['Content-Type: multipart/alternative; boundary=xy', '', ...parts].join('\r\n')));
    expect([answer.disposition, new TextDecoder().decode(answer.data)]).toEqual(['cdns', 'table']);
  });

  test('with a changed byte is damaged', () => {
    const answer = encodeRibbit({ data: table, disposition: 'summary' });
    const changed = answer.slice();
    changed[changed.indexOf(0x23)] = 0x24;
    expect(codeThrownBy(() => decodeRibbit(changed))).toBe('E_INTEGRITY');
  });

  test('that was cut off, has no checksum or no table is refused', () => {
    const answer = encodeRibbit({ data: table, disposition: 'summary' });
    for (const size of [0, 10, answer.length - 77, answer.length - 10]) {
      expect([size, codeThrownBy(() => decodeRibbit(answer.subarray(0, size)))]).toEqual([size, 'E_FORMAT']);
    }
    expect(codeThrownBy(() => decodeRibbit(htmlPage))).toBe('E_FORMAT');
    for (const message of [
      '',
      'no headers\r\n',
      'A: b\r\n\r\n\r\n',
      'Content-Type: x; boundary="q"\r\n\r\n--q--\r\n',
      'Content-Type: x; boundary="q"\r\n\r\n--q\r\nno body\r\n--q--\r\n',
    ]) {
      expect([message, codeThrownBy(() => decodeRibbit(seal(message)))]).toEqual([message, 'E_FORMAT']);
    }
  });

  test('survives anything', () => {
    // The last line break may be missing.
    expect(decodeRibbit(encodeRibbit({ data: table, disposition: 'a' }).subarray(0, -2)).disposition).toBe('a');
    expectHostileSafe(decodeRibbit, encodeRibbit({ data: table, disposition: 'a' }), { prefixesFail: false });
    const many = seal(
      `Content-Type: x; boundary="q"\r\n\r\n${'--q\r\nContent-Disposition: signature\r\n\r\n'.repeat(30_000)}`,
    );
    expectHostileSafe((bytes) => codeThrownBy(() => decodeRibbit(bytes)), many, { samples: 1, prefixesFail: false });
  });
});
