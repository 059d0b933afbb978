import { describe, expect, test } from '@jest/globals';
import {
  decodeBuildConfig,
  decodePartialPriorities,
  encodePartialPriorities,
} from '../../../src/formats/configs/build-config.ts';
import { decodeConfig, encodeConfig } from '../../../src/formats/configs/config-file.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy, htmlPage, text } from '../text.ts';

const key = (digit: string): string => digit.repeat(32);
const encoding = `encoding = ${key('a')} ${key('B')}`;

describe('a build config', () => {
  test('gives the keys and sizes of each manifest', () => {
    const build = decodeBuildConfig(
      text(
        '# Build Configuration',
        `root = ${key('1')}`,
        `install = ${key('2')} ${key('3')}`,
        'install-size = 24197 23331',
        encoding,
        'encoding-size = 14029092 14027807',
        `patch-config = ${key('4')}`,
        'build-name = WOW-65989patch1.15.8_ClassicRetail',
        'build-uid = wow_classic_era',
        'build-product = WoW',
        'feature-placeholder = true',
      ),
    );
    expect(build).toMatchObject({
      name: 'WOW-65989patch1.15.8_ClassicRetail',
      uid: 'wow_classic_era',
      product: 'WoW',
      install: { ckey: key('2'), ekey: key('3'), size: 24197, encodedSize: 23331 },
      encoding: { ckey: key('a'), ekey: key('b'), size: 14029092, encodedSize: 14027807 },
      patchConfig: key('4'),
      vfs: [],
    });
    expect(build.root).toEqual({ ckey: key('1'), ekey: undefined, size: undefined, encodedSize: undefined });
    expect([build.download, build.size, build.patch, build.patchIndex, build.vfsRoot]).toEqual(
      Array(5).fill(undefined),
    );
    expect(build.config.get('feature-placeholder')).toEqual(['true']);
  });

  test('has its vfs manifests in the order of their numbers', () => {
    const lines = [10, 2, 1].flatMap((n) => [
      `vfs-${n} = ${key(n.toString(16))} ${key('c')}`,
      `vfs-${n}-size = ${n}0 ${n}`,
    ]);
    const build = decodeBuildConfig(text(encoding, ...lines, `vfs-root = ${key('d')} ${key('e')}`, 'vfs-1-espec = z'));
    expect(build.vfs.map(({ size }) => size)).toEqual([10, 20, 100]);
    expect(build.vfsRoot?.ckey).toBe(key('d'));
  });

  test('takes a key of zeros for none', () => {
    expect(decodeBuildConfig(text(encoding, `root = ${key('0')}`)).root).toBeUndefined();
    expect(codeThrownBy(() => decodeBuildConfig(text(`encoding = ${key('0')} ${key('0')}`)))).toBe('E_FORMAT');
  });

  test('is refused without encoding, with a bad key or size, or when it is another thing', () => {
    for (const bad of [
      `root = ${key('1')}`,
      'encoding = xyz',
      `encoding = ${key('a')} 12`,
      `${encoding}\nencoding-size = -1`,
    ]) {
      expect([bad, codeThrownBy(() => decodeBuildConfig(text(bad)))]).toEqual([bad, 'E_FORMAT']);
    }
    expect(codeThrownBy(() => decodeBuildConfig(htmlPage))).toBe('E_FORMAT');
    expect(codeThrownBy(() => decodeBuildConfig(new Uint8Array(0)))).toBe('E_FORMAT');
  });

  test('lists what an install fetches first, and the line comes back byte for byte', () => {
    // Of WOW-24974patch7.3.0_Retail.
    const values = 'e1e6b5f0ad34f2b41e31a54d17e12af8:262144 650277c63d68542d65b71495728dee1f:1048576';
    const config = decodeConfig(text('# Build Configuration', '', `build-partial-priority = ${values}`, ''));
    const priorities = decodePartialPriorities(config);
    expect(priorities.contents).toEqual([
      { ckey: 'e1e6b5f0ad34f2b41e31a54d17e12af8', blockSize: 262144 },
      { ckey: '650277c63d68542d65b71495728dee1f', blockSize: 1048576 },
    ]);
    expect(priorities.manifest).toBeUndefined();
    const line = encodeConfig({ entries: encodePartialPriorities(priorities), title: 'Build Configuration' });
    expect(new TextDecoder().decode(line)).toBe(`# Build Configuration\n\nbuild-partial-priority = ${values}\n`);
  });

  test('of 2016 names a manifest of what to fetch first', () => {
    const config = decodeConfig(text(`partial-priority = ${key('5')}`, 'partial-priority-size = 0'));
    const priorities = decodePartialPriorities(config);
    expect(priorities).toMatchObject({ contents: [], manifest: { ckey: key('5'), size: 0 } });
    expect(encodePartialPriorities(priorities)).toEqual(config.entries);
  });

  test('is read whatever those lines are; they are refused by themselves', () => {
    for (const bad of ['speech:0', key('1'), `${key('1')}:x`, `${key('1')}:1:2`]) {
      const bytes = text(encoding, `build-partial-priority = ${bad}`);
      const { config } = decodeBuildConfig(bytes);
      expect([bad, codeThrownBy(() => decodePartialPriorities(config))]).toEqual([bad, 'E_FORMAT']);
    }
    expect(decodePartialPriorities(decodeConfig(text('build-partial-priority ='))).contents).toEqual([]);
  });

  test('survives anything', () => {
    expectHostileSafe(decodeBuildConfig, text(encoding, 'encoding-size = 1 2', `vfs-1 = ${key('1')}`), {
      prefixesFail: false,
    });
  });
});
