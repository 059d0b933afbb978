import { expect, test } from '@jest/globals';
import type { ExtractResult } from '../../../src/app/extract.ts';
import { renderExtract } from '../../../src/cli/render/extract.ts';

test('a key that is missing is told once, with how many files need it and what brings it', () => {
  const locked = (name: string, key: string): ExtractResult['failed'][number] => ({
    name,
    code: 'E_KEY_MISSING',
    message: `chunk 0 is encrypted with key ${key}, which is not known`,
    key,
    hint: '`pakrat keys update` brings keys',
  });
  const failed = [
    ...Array.from({ length: 1200 }, (_, i) => locked(`a/${i}`, 'AA')),
    { name: 'lost', code: 'E_NOT_FOUND', message: 'lost is gone' },
    locked('b\x1b[31m', 'BB'),
  ];
  expect(renderExtract({ files: 0, bytes: 0, skipped: 0, failed }, 'out').split('\n')).toEqual([
    '0 files (0 B) extracted to out',
    '1,202 not extracted:',
    '  lost is gone',
    '  key AA is not known: a/0 and 1,199 others',
    expect.stringMatching(/^ {2}key BB is not known: b\P{Cc}+$/u),
    'Try this: `pakrat keys update` brings keys',
  ]);
});
