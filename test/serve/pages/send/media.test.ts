import { expect, test } from '@jest/globals';
import { attachment, pictureType, textOf } from '../../../../src/serve/pages/send/media.ts';
import { pictureBytes } from '../../../support/served-page.ts';

test.each([
  ['a/b/c.txt', 'c.txt', 'c.txt'],
  ['a"b\r\nSet-Cookie: x.txt', 'a_b__Set-Cookie_ x.txt', 'a_b__Set-Cookie_%20x.txt'],
  ["it's (100%).txt", "it's (100_).txt", 'it%27s%20%28100%25%29.txt'],
  ['x\u202etxt.exe', 'x_txt.exe', 'x_txt.exe'],
  ['Straße.txt', 'Stra_e.txt', 'Stra%C3%9Fe.txt'],
  ['half \ud800.txt', 'half _.txt', 'half%20_.txt'],
  ['ends/', 'file', 'file'],
])('%j is saved under a safe name', (name, plain, encoded) => {
  expect(attachment(name)).toBe(`attachment; filename="${plain}"; filename*=UTF-8''${encoded}`);
});

test('a picture is told by its bytes, and what may run is none', () => {
  expect(pictureType(pictureBytes)).toBe('image/png');
  expect(pictureType(Buffer.from('GIF89a....'))).toBe('image/gif');
  expect(pictureType(Buffer.from('RIFF\0\0\0\0WEBPVP8 '))).toBe('image/webp');
  for (const text of ['<svg xmlns="http://www.w3.org/2000/svg"/>', '<html>', 'RIFF\0\0\0\0WAVE', 'BM is text', ''])
    expect(pictureType(Buffer.from(text))).toBeUndefined();
});

test('text is what is whole in UTF-8, or cut within its last character', () => {
  const bytes = Buffer.from('Straße');
  expect(textOf(bytes, false)).toBe('Straße');
  expect([textOf(bytes.subarray(0, 5), false), textOf(bytes.subarray(0, 5), true)]).toEqual([undefined, 'Stra']);
  expect(textOf(Buffer.from([0x61, 0, 0x62]), false)).toBeUndefined();
});
