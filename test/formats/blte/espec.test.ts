import { describe, expect, test } from '@jest/globals';
import { blockSizes, parseEspec, planChunks, printEspec } from '../../../src/formats/blte/espec.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

describeConformance('specs of real builds', () => {
  test('all 2966 of the older builds print as they were', () => {
    const specs = text(conformanceBytes('tact/keg/encodings.txt'))
      .split('\n')
      .filter((line) => line !== '');
    expect(specs).toHaveLength(2966);
    expect(specs.filter((spec) => printEspec(parseEspec(spec)) !== spec)).toEqual([]);
  });

  test('all 50 of the builds of 2026 print as they were', () => {
    const file = JSON.parse(text(conformanceBytes('tact/cascette-rs/espec/representative_especs.json')));
    const specs: string[] = Object.values<string[]>(file.by_category).flat();
    expect(specs).toHaveLength(50);
    expect(specs.filter((spec) => printEspec(parseEspec(spec)) !== spec)).toEqual([]);
  });

  test('the spec of an encoding file cuts it into its seven sections', () => {
    const spec = parseEspec('b:{22=n,54=z,192=n,24576=n,128=n,16384=n,*=z}');
    const size = conformanceBytes('tact/keg/blte/2a6168d8a7122a8dd9b61fb92af3d3f4.in').length;
    expect(blockSizes(spec, size)).toEqual([22, 54, 192, 24576, 128, 16384, 45]);
  });
});

describe('parseEspec', () => {
  test('reads every part of the language', () => {
    expect(parseEspec('n')).toEqual({ type: 'n' });
    expect(parseEspec('z')).toEqual({ type: 'z' });
    expect(parseEspec('z:6')).toEqual({ type: 'z', level: 6 });
    expect(parseEspec('z:{6,mpq}')).toEqual({ type: 'z', level: 6, bits: 'mpq' });
    expect(parseEspec('z:{9,15}')).toEqual({ type: 'z', level: 9, bits: 15 });
    expect(parseEspec('g:{5}')).toEqual({ type: 'g', parameters: '{5}' });
    expect(parseEspec('c')).toEqual({ type: 'c' });
    expect(parseEspec('e:{237DA26C65073F42,06FC152E,z}')).toEqual({
      type: 'e',
      key: '237DA26C65073F42',
      iv: '06FC152E',
      spec: { type: 'z' },
    });
    expect(parseEspec('b:{2K=z,1M*3=n,*=n}')).toEqual({
      type: 'b',
      braced: true,
      blocks: [
        { size: 2, unit: 'K', spec: { type: 'z' } },
        { size: 1, unit: 'M', repeat: 3, spec: { type: 'n' } },
        { spec: { type: 'n' } },
      ],
    });
  });

  test.each([
    'e:{000684749764DCBE,5379955308151E04,b:{1K=n,*=z}}',
    'b:{16=b:{8*=n},*=e:{237DA26C65073F42,06FC152E,z:6}}',
    'b:65536*=z:{6,lz4hc}',
    'c:{1}',
    'g:3',
  ])('%s prints as it was', (spec) => {
    expect(printEspec(parseEspec(spec))).toBe(spec);
  });

  test.each([
    ['', 0],
    ['x', 0],
    ['nn', 1],
    ['z:', 2],
    ['z:{6', 4],
    ['z:{6,mpx}', 5],
    ['e:{237DA26C65073F4,06FC152E,z}', 3],
    ['e:{237DA26C65073F42,06FC152,z}', 20],
    ['e:{237DA26C65073F42,06FC152E01,z}', 28],
    ['b:{}', 3],
    ['b:{=n}', 3],
    ['b:{1=n,}', 7],
    ['b:{1=n', 6],
    ['b:1=n,2=n', 5],
    ['b:{1k=n}', 4],
    ['b:{0*=n}', 5],
    ['b:{007=n}', 4],
  ])('%j is refused at offset %i', (spec, offset) => {
    expect(() => parseEspec(spec)).toThrow(
      expect.objectContaining({ code: 'E_FORMAT', data: expect.objectContaining({ offset }) }),
    );
  });

  test('refuses numbers, nesting and elastic blocks beyond reason', () => {
    const range = expect.objectContaining({ code: 'E_FORMAT_RANGE' });
    expect(() => parseEspec('z:10')).toThrow(range);
    expect(() => parseEspec('z:{6,16}')).toThrow(range);
    expect(() => parseEspec('b:{99999999999999999999=n}')).toThrow(range);
    expect(() => parseEspec(`${'b:1='.repeat(50)}n`)).toThrow(range);
    expect(() => parseEspec(`${'b:1='.repeat(100_000)}n`)).toThrow(range);
    expect(() => parseEspec('b:{1K*=n,*=z}')).toThrow(expect.objectContaining({ code: 'E_FORMAT' }));
  });

  test('survives hostile input', () => {
    const valid = new Uint8Array(Buffer.from('b:{2K=z,512K*104=e:{54981A9EEB7662E4,9058498D,n},16K=z:{6,mpq},*=z:6}'));
    expectHostileSafe((bytes) => parseEspec(text(bytes)), valid);
  });
});

describe('blockSizes', () => {
  test.each([
    ['n', 1000, [1000]],
    ['e:{237DA26C65073F42,06FC152E,z}', 1000, [1000]],
    ['b:{256K*=z}', 600_000, [262_144, 262_144, 75_712]],
    ['b:{256K*=z}', 524_288, [262_144, 262_144]],
    ['b:{256K*=z}', 0, [0]],
    ['b:{164=z,16K*2=z,100=z}', 33_032, [164, 16_384, 16_384, 100]],
    ['b:{1K=n,4K*=z,2K=n}', 10_240, [1024, 4096, 3072, 2048]],
    ['b:{10=n,*=z}', 10, [10]],
    ['b:{0=n,*=z}', 10, [0, 10]],
  ])('%s over %i bytes', (spec, size, sizes) => {
    expect(blockSizes(parseEspec(spec), size)).toEqual(sizes);
  });

  test('refuses a file of another size', () => {
    const wrong = expect.objectContaining({ code: 'E_FORMAT' });
    expect(() => blockSizes(parseEspec('b:{10=n,5=z}'), 14)).toThrow(wrong);
    expect(() => blockSizes(parseEspec('b:{10=n,5=z}'), 16)).toThrow(wrong);
    expect(() => blockSizes(parseEspec('b:{10=n,*=z}'), 9)).toThrow(wrong);
  });

  test('refuses more chunks than a table holds', () => {
    const range = expect.objectContaining({ code: 'E_FORMAT_RANGE' });
    expect(() => blockSizes(parseEspec('b:{1*=n}'), 2 ** 40)).toThrow(range);
  });

  test('every chunk carries its spec', () => {
    const plan = planChunks(parseEspec('b:{1=n,2*=z}'), 4);
    expect(plan).toEqual([
      { size: 1, spec: { type: 'n' } },
      { size: 2, spec: { type: 'z' } },
      { size: 1, spec: { type: 'z' } },
    ]);
  });
});
