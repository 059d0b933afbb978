import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../src/core/byte-source.ts';
import { isPakratError } from '../../src/core/errors.ts';
import { openNadeoPak } from '../../src/paks/nadeo/open.ts';
import { baseKey, gbxFile, noise, packBytes, packFile, packWithMixes } from '../paks/nadeo/synthetic.ts';
import { randomSource } from '../support/hostile.ts';
import { gather } from '../support/pak-sources.ts';

/** Does everything that can be done with a pack; anything but an error of ours is thrown on. Returns the codes met. */
async function useAll(bytes: Uint8Array): Promise<Set<string>> {
  const codes = new Set<string>();
  const tame = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      if (!isPakratError(error)) throw error;
      codes.add(error.code);
    }
  };
  await tame(async () => {
    const pak = await openNadeoPak(bytesSource(bytes), { keys: [baseKey] });
    JSON.stringify(pak.facts);
    await tame(async () => {
      const problem = await pak.verifyDirectory();
      if (problem !== undefined) codes.add(problem.code);
    });
    await tame(() => pak.metadata());
    await tame(() => pak.resolveNames());
    for (const entry of pak.entries) {
      const problem = await pak.verify(entry);
      if (problem !== undefined) codes.add(problem.code);
      await tame(async () => {
        for await (const _ of pak.readRaw(entry));
      });
    }
  });
  return codes;
}

const content = gbxFile({ classId: 0x03043000, inline: [0x0304f000, 0x07006000], externals: ['x.gbx'], filler: 900 });
const files = [
  packFile('Media/Synthetic/Deep/A.txt', 'lorem ipsum '.repeat(300)),
  packFile('Media/B.bin', noise(500), { hashedBelow: 'Media' }),
  packFile('C.Challenge.Gbx', content),
];

describe.each([1, 3, 6, 8, 12, 15, 18])('version %i, made hostile', (version) => {
  const pack = () => packBytes(files, { version, key: baseKey, info: { titleId: 'T', comment: 'c' } });

  test('cut anywhere', async () => {
    const whole = await pack();
    expect([...(await useAll(whole))]).toEqual([]);
    const random = randomSource(version);
    for (let i = 0; i < 40; i++) {
      // Below version 6 nothing tells that the padding at the end of the metadata is short.
      const padding = version < 6 ? 0x100 : 0;
      const size = i < 20 ? 3 * i + (version % 3) : Math.floor(random() * (whole.length - padding));
      expect((await useAll(whole.slice(0, size))).size).toBeGreaterThan(0);
    }
  });

  test('changed anywhere', async () => {
    const whole = await pack();
    const random = randomSource(version + 100);
    for (let i = 0; i < 54; i++) {
      const changed = whole.slice();
      const offset = Math.floor(random() * (i % 2 === 0 ? Math.min(700, whole.length) : whole.length));
      changed[offset]! ^= 1 + Math.floor(random() * 255);
      const started = performance.now();
      await useAll(changed);
      expect(performance.now() - started).toBeLessThan(15_000);
    }
  });

  test('with large numbers anywhere in its header', async () => {
    const whole = await pack();
    const random = randomSource(version + 200);
    for (let i = 0; i < 34; i++) {
      const changed = whole.slice();
      const offset = 8 + Math.floor(random() * 400);
      const value = [0xffffffff, 0x80000000, 0x7fffffff, 0x01000000, whole.length][i % 5]!;
      new DataView(changed.buffer).setUint32(offset, value, true);
      await useAll(changed);
    }
  });
});

describe('promises that are not kept', () => {
  const sizeOf = (pack: Uint8Array, size: number) => {
    const changed = pack.slice();
    const text = new TextDecoder('latin1').decode(pack.subarray(0, 0x1000));
    const at = text.indexOf('Some.bin') + 'Some.bin'.length + 4;
    new DataView(changed.buffer).setUint32(at, size, true);
    return changed;
  };
  const parts = { content: noise(20_000), mixes: [], name: 'Some.bin' };

  test.each([
    [8, 'zlib', 0xffffffff],
    [8, 'zlib', 100],
    [18, 'lz4', 0xffffffff],
    [18, 'lz4', 100],
    [8, 'none', 0xffffffff],
  ] as const)('version %i, stored as %s, with a size of %i', async (version, method, size) => {
    const pack = sizeOf(await packWithMixes({ ...parts, version, method }), size);
    const pak = await openNadeoPak(bytesSource(pack), { keys: [baseKey] });
    expect(pak.entries[0]!.size).toBe(size);
    expect((await pak.verify(pak.entries[0]!))?.code).toMatch(/^E_/);
  });

  test.each([8, 15])(
    'version %i: a file that a damaged directory calls empty is not given out as that',
    async (version) => {
      const pack = sizeOf(await packBytes([packFile('Some.bin', noise(500))], { version, key: undefined }), 0);
      const pak = await openNadeoPak(bytesSource(pack), { keys: [baseKey] });
      const [entry] = pak.entries;
      expect(entry).toMatchObject({ name: 'Some.bin', size: 0 });
      await expect(gather(pak.read(entry!))).rejects.toMatchObject({ code: 'E_INTEGRITY' });
      const ignoring = await openNadeoPak(bytesSource(pack), { keys: [baseKey], ignoreHashes: true });
      expect(await gather(ignoring.read(ignoring.entries[0]!))).toHaveLength(0);
    },
  );

  test('a GBX that says it is huge is refused before it is read', async () => {
    const gbxParts = { content, mixes: [], name: 'Some.bin.Gbx', version: 8, method: 'none' } as const;
    const pack = await packWithMixes({ ...gbxParts });
    const text = new TextDecoder('latin1').decode(pack.subarray(0, 0x1000));
    const at = text.indexOf('Some.bin.Gbx') + 'Some.bin.Gbx'.length + 4;
    new DataView(pack.buffer).setUint32(at, 0x7fffffff, true);
    const pak = await openNadeoPak(bytesSource(pack), { keys: [baseKey] });
    expect((await pak.verify(pak.entries[0]!))?.code).toMatch(/^E_/);
  });
});
