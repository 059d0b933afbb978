import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import type { Pak } from '../../../src/paks/pak.ts';
import { quakeCrc16, quakeRelease } from '../../../src/paks/quake/directory.ts';
import { exercisePak, flips, prefixSizes } from '../../support/pak-hostile.ts';
import { type QuakeRow, type QuakeShape, quakePak } from '../../support/pak-quake.ts';
import { countingSource, gather, sparseSource } from '../../support/pak-sources.ts';

const open = (rows: readonly QuakeRow[], shape: QuakeShape = {}): Promise<Pak> =>
  openPak(bytesSource(quakePak(rows, shape)));

async function text(pak: Pak, name: string): Promise<string> {
  return Buffer.from(await gather(pak.read(pak.find(name)!))).toString('latin1');
}

describe('names', () => {
  test('end at the first NUL; what stands behind it is garbage', async () => {
    const pak = await open([{ name: 'progs.dat', content: 'x', garbage: 0x41 }]);
    expect(pak.entries.map(({ name }) => name)).toEqual(['progs.dat']);
  });

  test('may fill the field without a NUL', async () => {
    const name = `${'a'.repeat(52)}.lmp`;
    const pak = await open([{ name, content: 'full' }]);
    expect(pak.entries[0]!.name).toBe(name);
    expect(await text(pak, name)).toBe('full');
  });

  test('are UTF-8, or Latin-1 when they are not, or what is asked for', async () => {
    const latin = Uint8Array.of(0x67, 0x72, 0xfc, 0x6e);
    expect((await open([{ name: latin }])).entries[0]!.name).toBe('grün');
    expect((await open([{ name: 'grün' }])).entries[0]!.name).toBe('grün');
    const bytes = quakePak([{ name: Uint8Array.of(0x83, 0x65, 0x83, 0x58) }]);
    expect((await openPak(bytesSource(bytes), { encoding: 'shift_jis' })).entries[0]!.name).toBe('テス');
    await expect(openPak(bytesSource(bytes), { encoding: 'klingon' })).rejects.toMatchObject({ code: 'E_USAGE' });
  });

  test('are found exactly, or else by ignoring case, with a note', async () => {
    const pak = await open([
      { name: 'Maps/E1M1.bsp', content: 'upper' },
      { name: 'maps/e1m1.bsp', content: 'lower' },
    ]);
    expect(await text(pak, 'maps/e1m1.bsp')).toBe('lower');
    expect(await text(pak, 'Maps/E1M1.bsp')).toBe('upper');
    expect(pak.find('maps/e1m1.bsp')!.note).toBeUndefined();
    expect(pak.find('MAPS\\E1M1.BSP')).toMatchObject({ index: 0, note: expect.stringContaining('ignoring case') });
    expect(pak.find('maps/e1m2.bsp')).toBeUndefined();
  });

  test('of which the first wins', async () => {
    const pak = await open([
      { name: 'a.cfg', content: 'first' },
      { name: 'b.cfg', content: 'other' },
      { name: 'a.cfg', content: 'second' },
    ]);
    expect(await text(pak, 'a.cfg')).toBe('first');
    expect(pak.entries.map(({ hidden }) => hidden)).toEqual([undefined, undefined, 'shadowed']);
    expect(pak.entries[2]!.note).toContain('entry 0');
    expect(Buffer.from(await gather(pak.read(pak.entries[2]!))).toString()).toBe('second');
  });
});

describe('bounds', () => {
  test('entries may overlap, and leave gaps', async () => {
    const pak = await open(
      [
        { name: 'a', content: 'shared' },
        { name: 'b', offset: 12 + 5, size: 4 },
      ],
      { gap: 5 },
    );
    expect([await text(pak, 'a'), await text(pak, 'b')]).toEqual(['shared', 'shar']);
  });

  test.each([
    ['an offset past 2 GiB', { offset: -2000 }, /at offset 4294965296 end past the end/],
    ['a size past 2 GiB', { size: -1 }, /4294967295 bytes .* past the end/],
    ['an end past the end of the file', { offset: 12, size: 100_000 }, /past the end/],
    ['an offset past the end of the file', { offset: 0x7fffffff, size: 0 }, /past the end/],
  ])('%s is refused by name, the rest still reads', async (_what, bad, message) => {
    const pak = await open([
      { name: 'good', content: 'fine' },
      { name: 'bad', content: 'x', ...bad },
    ]);
    expect(await text(pak, 'good')).toBe('fine');
    const entry = pak.find('bad')!;
    expect(entry.note).toMatch(message);
    expect(entry.size).toBeGreaterThanOrEqual(0);
    await expect(async () => gather(pak.read(entry))).rejects.toMatchObject({
      code: 'E_FORMAT_RANGE',
      message: expect.stringContaining('bad'),
    });
    expect(await pak.verify(entry)).toMatchObject({ code: 'E_FORMAT_RANGE' });
    expect(await pak.verify(pak.find('good')!)).toBeUndefined();
    expect(pak.notes.join()).toMatch(/cannot be read: 1/);
  });

  test('an entry that only ends past 2 GiB is whole in a file that has it', async () => {
    const directory = quakePak([{ name: 'late', offset: 0x7ffffff0, size: 64 }]).slice(12);
    const header = quakePak([], { directoryOffset: 12, directorySize: 64 });
    const content = new Uint8Array(64).fill(7);
    const parts = [
      { offset: 0, bytes: header },
      { offset: 12, bytes: directory },
      { offset: 0x7ffffff0, bytes: content },
    ];
    const pak = await openPak(sparseSource(0x8000_1000, parts));
    expect(await gather(pak.read(pak.entries[0]!))).toEqual(content);
  });

  test.each([
    ['negative offset', { directoryOffset: -1 }, 'E_FORMAT_TRUNCATED'],
    ['negative size', { directorySize: -64 }, 'E_FORMAT_TRUNCATED'],
    ['past the end', { directoryOffset: 1 << 20 }, 'E_FORMAT_TRUNCATED'],
    ['longer than the file', { directorySize: 64 * 1000 }, 'E_FORMAT_TRUNCATED'],
  ])('a directory with %s is refused', async (_what, shape, code) => {
    await expect(open([{ name: 'a', content: 'x' }], shape)).rejects.toMatchObject({ code });
  });

  test('a directory that is larger than any is refused before it is read', async () => {
    const header = quakePak([], { directoryOffset: 12, directorySize: 0x7ff00000 });
    await expect(openPak(sparseSource(0x7fffffff, [{ offset: 0, bytes: header }]))).rejects.toMatchObject({
      code: 'E_FORMAT_RANGE',
    });
  });

  test('a directory that is no whole number of records loses its rest, with a note', async () => {
    const pak = await open([{ name: 'a', content: 'x' }], { directorySize: 64 + 20, tail: new Uint8Array(40) });
    expect(pak.entries.map(({ name }) => name)).toEqual(['a']);
    expect(pak.notes.join()).toMatch(/20 bytes/);
  });
});

describe('notes and facts', () => {
  test.each([
    [0, /is empty/],
    [2049, /2049 entries: Quake loads at most 2048$/],
    [4097, /Quake II at most 4096/],
  ])('%d entries are no error', async (count, note) => {
    const pak = await open(Array.from({ length: count }, (_, i) => ({ name: `f${i}` })));
    expect(pak.entries).toHaveLength(count);
    expect(pak.notes.join()).toMatch(note);
  });

  test('2048 entries are nothing to speak of', async () => {
    expect((await open(Array.from({ length: 2048 }, (_, i) => ({ name: `f${i}` })))).notes).toEqual([]);
  });

  test('a file that is a ZIP too is told', async () => {
    const end = new Uint8Array(22);
    end.set([0x50, 0x4b, 5, 6]);
    expect((await open([{ name: 'a', content: 'x' }], { tail: end })).notes.join()).toContain('ZIP');
  });

  test('the registered version shows by gfx/pop.lmp', async () => {
    expect((await open([{ name: 'gfx/pop.lmp', content: new Uint8Array(256) }])).facts.registered).toBe(true);
    expect((await open([{ name: 'gfx/pop.lmp', content: new Uint8Array(255) }])).facts.registered).toBe(false);
  });

  test('the CRC is CRC-16/CCITT-FALSE, by which releases are known', () => {
    expect(quakeCrc16(new TextEncoder().encode('123456789'))).toBe(0x29b1);
    expect(quakeRelease(339, 32981)).toBe('Quake 1.06');
    expect(quakeRelease(338, 32981)).toBeUndefined();
    expect(quakeRelease(308, 28804)).toMatch(/pre-release/);
  });
});

describe('magic', () => {
  test('another magic is refused, unless it is ignored', async () => {
    const bytes = quakePak([{ name: 'a', content: 'x' }], { magic: 'KCAP' });
    await expect(openPak(bytesSource(bytes))).rejects.toMatchObject({ code: 'E_FORMAT_MAGIC' });
    const pak = await openPak(bytesSource(bytes), { ignoreMagic: true });
    expect(await text(pak, 'a')).toBe('x');
    expect(pak.notes.join()).toContain('KCAP');
  });

  test("SiN's SPAK has names of 120 bytes", async () => {
    const name = `models/${'long/'.repeat(20)}x.def`;
    const pak = await open(
      [
        { name, content: 'sin' },
        { name: 'b', content: 'two' },
      ],
      { magic: 'SPAK', nameSize: 120 },
    );
    expect(pak.version).toBe('SPAK');
    expect(await text(pak, name)).toBe('sin');
    expect(await text(pak, 'b')).toBe('two');
  });
});

describe('Daikatana', () => {
  const shape = { isDaikatana: true };
  // 5 literals, 4 zeros, 3 times 'x', then 6 bytes from 12 back, end.
  const stored = Uint8Array.of(4, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 66, 129, 0x78, 196, 10, 255);
  const decoded = 'hello\0\0\0\0xxxhello\0';

  test('is known by the size of its directory, and decoded', async () => {
    const pak = await open(
      [
        { name: 'a.txt', content: stored, size: decoded.length, isCompressed: 1 },
        { name: 'b', content: 'plain' },
      ],
      shape,
    );
    expect(pak.version).toBe('Daikatana');
    expect(pak.entries.map(({ method, size, storedSize }) => [method, size, storedSize])).toEqual([
      ['daikatana', decoded.length, stored.length],
      ['none', 5, 5],
    ]);
    expect([await text(pak, 'a.txt'), await text(pak, 'b')]).toEqual([decoded, 'plain']);
    expect(await pak.verify(pak.find('a.txt')!)).toBeUndefined();
    const part = await gather(pak.readRange!(pak.find('a.txt')!, 9, 5));
    expect(Buffer.from(part).toString()).toBe('xxxhe');
  });

  test('is known by its sense where the size fits both (8 records are 9 of Quake)', async () => {
    const rows = Array.from({ length: 8 }, (_, i) => ({ name: `file${i}.txt`, content: `content ${i}` }));
    const pak = await open(rows, shape);
    expect(pak.version).toBe('Daikatana');
    expect(await text(pak, 'file7.txt')).toBe('content 7');
    const quake = await open([...rows, { name: 'nine', content: '9' }]);
    expect([quake.version, quake.entries.length]).toEqual(['PACK', 9]);
  });

  test('long output comes in pieces, its history whole across them', async () => {
    // 512 literals come first, so that every code after them can reach back as far as codes can.
    const codes = new Array<number[]>(8).fill([63, ...new Array<number>(64).fill(1)]).flat();
    const wanted = new Array<number>(512).fill(1);
    for (let i = 0; i < 6000; i++) {
      codes.push(0, i & 0xff, 191, (i * 7) & 0xff, 253, 255);
      wanted.push(i & 0xff, ...new Array<number>(65).fill((i * 7) & 0xff));
      for (let k = 0; k < 63; k++) wanted.push(wanted[wanted.length - 257]!);
    }
    const bytes = Uint8Array.from([...codes, 255]);
    const pak = await open([{ name: 'long', content: bytes, size: wanted.length, isCompressed: 1 }], shape);
    const sizes: number[] = [];
    for await (const piece of pak.read(pak.entries[0]!)) sizes.push(piece.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(70_000);
    expect(Buffer.from(await gather(pak.read(pak.entries[0]!))).equals(Buffer.from(wanted))).toBe(true);
  });

  test.each([
    ['ends early', [4, 1, 2], 10, 'E_FORMAT_TRUNCATED'],
    ['has no end code', [0, 1], 1, 'E_FORMAT_TRUNCATED'],
    ['gives too little', [0, 1, 255], 2, 'E_FORMAT_TRUNCATED'],
    ['gives too much', [1, 1, 2, 255], 1, 'E_FORMAT_RANGE'],
    ['reaches back too far', [0, 1, 192, 0, 255], 3, 'E_FORMAT_RANGE'],
    ['has a code without meaning', [254, 255], 4, 'E_FORMAT'],
    ['promises more than codes can give', [255], 1000, 'E_FORMAT_RANGE'],
  ])('an entry that %s is an error', async (_what, codes, size, code) => {
    const pak = await open([{ name: 'bad', content: Uint8Array.from(codes), size, isCompressed: 1 }], shape);
    await expect(async () => gather(pak.read(pak.entries[0]!))).rejects.toMatchObject({ code });
    expect(await pak.verify(pak.entries[0]!)).toMatchObject({ code });
  });

  test('damage of any kind is an error with a code or other bytes, never more', async () => {
    const bytes = quakePak(
      [
        { name: 'a.txt', content: stored, size: decoded.length, isCompressed: 1 },
        { name: 'b', content: 'plain' },
      ],
      shape,
    );
    for (const size of prefixSizes(bytes.length, 100)) await exercisePak(bytes.slice(0, size), `prefix ${size}`);
    for (const { offset, changed } of flips(bytes, 300)) await exercisePak(changed, `byte ${offset}`);
  });
});

test('a directory without any NUL does not take for ever', async () => {
  const rows = new Uint8Array(1 << 20).fill(0x41);
  const bytes = new Uint8Array(12 + rows.length);
  bytes.set(quakePak([], { directoryOffset: 12, directorySize: rows.length }));
  bytes.set(rows, 12);
  const started = performance.now();
  expect((await openPak(bytesSource(bytes))).entries).toHaveLength(rows.length / 64);
  expect(performance.now() - started).toBeLessThan(15_000);
});

test('reading an entry reads that entry', async () => {
  const source = countingSource(
    quakePak([
      { name: 'a', content: new Uint8Array(5000) },
      { name: 'b', content: 'bee' },
    ]),
  );
  const pak = await openPak(source);
  source.reset();
  expect(await text(pak, 'b')).toBe('bee');
  expect(source.bytes).toBe(3);
});
