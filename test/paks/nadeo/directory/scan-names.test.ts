import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { openNadeoPak } from '../../../../src/paks/nadeo/open.ts';
import { baseKey, gbxFile, noise, packBytes, packFile } from '../synthetic.ts';

describe('real names found in the pack itself', () => {
  const hashed = { hashedBelow: 'Media' };
  // A refers to B beside it; B, itself hashed, refers to C beside it; the script includes D.
  const files = [
    packFile('Media/Solid/A.Solid.Gbx', gbxFile({ classId: 0x09005000, externals: ['Solid\\Deep\\B.Shader.Gbx'] })),
    packFile(
      'Media/Solid/Deep/B.Shader.Gbx',
      gbxFile({ classId: 0x09002000, externals: ['Deep\\C.Texture.Gbx'] }),
      hashed,
    ),
    packFile('Media/Solid/Deep/C.Texture.Gbx', gbxFile({ classId: 0x09011000 }), hashed),
    packFile('Scripts/Main.Script.txt', '#Include "Libs/D.Script.txt" as D'),
    packFile('Scripts/Libs/D.Script.txt', 'main() {}', { hashedBelow: 'Scripts' }),
    packFile('Media/Nobody/Knows.dds', noise(300), hashed),
  ];

  test.each([3, 8, 12, 18])('version %i: reference tables, from file to file, and scripts', async (version) => {
    const pak = await openNadeoPak(bytesSource(await packBytes(files, { version, key: baseKey })), { keys: [baseKey] });
    const names = () => pak.entries.map(({ name }) => name);
    expect(names()).not.toContain('Media/Solid/Deep/B.Shader.Gbx');
    expect(await pak.resolveNames()).toBe(3);
    expect(names()).toEqual(expect.arrayContaining(files.slice(0, 5).map(({ name }) => name)));
    expect(pak.facts).toMatchObject({ hashedNames: 4, resolvedNames: 3 });
    expect(await pak.resolveNames()).toBe(0);
    for (const { name } of files) expect(await pak.verify(pak.find(name)!)).toBeUndefined();
  });

  test('without a key nothing encrypted is read', async () => {
    const pak = await openNadeoPak(bytesSource(await packBytes(files, { version: 8, key: baseKey })));
    expect(await pak.resolveNames()).toBe(0);
  });
});

test('files with the same path are both there; the first is found', async () => {
  const bytes = await packBytes([packFile('a/x.txt', 'first'), packFile('a/y.txt', 'other')], { version: 8 });
  const text = new TextDecoder('latin1').decode(bytes);
  bytes[text.indexOf('y.txt')] = 'x'.charCodeAt(0);
  const pak = await openNadeoPak(bytesSource(bytes));
  expect(pak.entries.map(({ name, hidden }) => [name, hidden])).toEqual([
    ['a/x.txt', undefined],
    ['a/x.txt', 'shadowed'],
  ]);
  expect(pak.find('a/x.txt')!.index).toBe(0);
  expect(pak.notes).toContain('1 files have the path of an earlier one');
});
