import { expect, test } from '@jest/globals';
import { optionsOf } from '../../../src/cli/flags/options-of.ts';
import { pakFlags, pakOptions } from '../../../src/cli/flags/pak-flags.ts';

test('flags of a group become options in camel case; others stay out', () => {
  const group = { key: {}, 'lz4-dictionary': {}, 'a-b-c': {} };
  expect(optionsOf(group, { key: ['k'], 'lz4-dictionary': 'file', 'a-b-c': 3, regex: 'no' })).toEqual({
    key: ['k'],
    lz4Dictionary: 'file',
    aBC: 3,
  });
});

test('every flag of PAKs is an option of them', () => {
  const names = Object.keys(pakOptions(pakFlags as never)).sort();
  expect(names).toEqual(
    [
      'encoding',
      'engine',
      'forceVersion',
      'game',
      'ignoreHashes',
      'ignoreMagic',
      'key',
      'lz4Dictionary',
      'names',
    ].concat(['oodle', 'resolveNames']),
  );
});
