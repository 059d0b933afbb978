import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { openPakrat } from '../src/index.ts';
import { unrealPak } from './support/pak-unreal.ts';
import { scratchFolder } from './support/scratch.ts';

const scratch = scratchFolder();
const content = Buffer.from(Array.from({ length: 64 }, (_, i) => (i * i * 37 + 11) & 0xff));

test('a part of a file whose record is lost is an error, as bytes and as a stream', async () => {
  const rows = [
    { name: 'lost', content },
    { name: 'kept', content },
  ];
  writeFileSync(scratch('a.pak'), unrealPak(rows, { version: 11 }).fill(0, 0, 53 + content.length));
  await using pakrat = await openPakrat();
  await using source = await pakrat.open(scratch('a.pak'));
  const part = { offset: 3, size: 10 };
  await expect(source.bytes('lost', part)).rejects.toMatchObject({ code: 'E_INTEGRITY' });
  const all = async (name: string) => new Uint8Array(await new Response(source.stream(name, part)).arrayBuffer());
  await expect(all('lost')).rejects.toMatchObject({ code: 'E_INTEGRITY' });
  expect(await all('kept')).toEqual(new Uint8Array(content.subarray(3, 13)));
});

test('a file that an unproven key decrypts is unsure', async () => {
  const rows = [
    { name: 'a', content },
    { name: 'empty', content: Buffer.alloc(0) },
  ];
  writeFileSync(scratch('b.pak'), unrealPak(rows, { version: 11, key: Buffer.alloc(32, 1), encryptData: true }));
  await using pakrat = await openPakrat();
  await using source = await pakrat.open(scratch('b.pak'), { pak: { key: '0'.repeat(64) } });
  expect(await source.bytes('a')).toHaveLength(64);
  expect([await source.isUnsure('a'), await source.isUnsure('empty')]).toEqual([true, false]);
  await expect(source.isUnsure('none')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
});
