import { describe, expect, test } from '@jest/globals';
import { decodeCdnConfig } from '../../../src/formats/configs/cdn-config.ts';
import { codeThrownBy, htmlPage, text } from '../text.ts';

const key = (digit: string): string => digit.repeat(32);

describe('a CDN config', () => {
  test('lists archives with their index sizes, groups and file indices', () => {
    const { config: _, ...values } = decodeCdnConfig(
      text(
        '# CDN Configuration',
        `archives = ${key('A')} ${key('b')}`,
        'archives-index-size = 100 200',
        `archive-group = ${key('c')}`,
        `patch-archives = ${key('d')}`,
        'patch-archives-index-size = 300',
        `patch-archive-group = ${key('e')}`,
        `file-index = ${key('f')}`,
        'file-index-size = 400',
        `patch-file-index = ${key('1')}`,
        'patch-file-index-size = 500',
        `builds = ${key('2')} ${key('3')}`,
      ),
    );
    expect(values).toEqual({
      archives: [key('a'), key('b')],
      archiveIndexSizes: [100, 200],
      archiveGroup: key('c'),
      patchArchives: [key('d')],
      patchArchiveIndexSizes: [300],
      patchArchiveGroup: key('e'),
      fileIndex: key('f'),
      fileIndexSize: 400,
      patchFileIndex: key('1'),
      patchFileIndexSize: 500,
      builds: [key('2'), key('3')],
    });
  });

  test('may lack anything', () => {
    const config = decodeCdnConfig(text('# CDN Configuration'));
    expect(config).toMatchObject({
      archives: [],
      archiveIndexSizes: [],
      patchArchives: [],
      patchArchiveIndexSizes: [],
      builds: [],
    });
    expect([config.archiveGroup, config.fileIndex, config.fileIndexSize]).toEqual([undefined, undefined, undefined]);
    expect(decodeCdnConfig(text(`archives = ${key('a')}`)).archiveIndexSizes).toEqual([]);
  });

  test('is refused when a key is none or the sizes do not run along', () => {
    for (const bad of [
      `archives = ${key('a')}g`,
      'file-index = 12',
      `archives = ${key('a')}\narchives-index-size = 1 2`,
      'file-index-size = 1e9',
    ]) {
      expect([bad, codeThrownBy(() => decodeCdnConfig(text(bad)))]).toEqual([bad, 'E_FORMAT']);
    }
    expect(codeThrownBy(() => decodeCdnConfig(htmlPage))).toBe('E_FORMAT');
  });
});
