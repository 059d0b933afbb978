import { expect, test } from '@jest/globals';
import { isSafeCdnPath, objectPath, storeLayout } from '../../src/store/layout.ts';

const hash = '0123456789abcdef0123456789abcdef';

test('objects lie in the store as on the CDN', () => {
  expect(objectPath({ cdnPath: 'tpr/wow', kind: 'data', hash })).toBe(`tpr/wow/data/01/23/${hash}`);
  expect(objectPath({ cdnPath: 'tpr/wow', kind: 'config', hash })).toBe(`tpr/wow/config/01/23/${hash}`);
  expect(objectPath({ cdnPath: 'tpr/wow', kind: 'patch', hash, suffix: '.index' })).toBe(
    `tpr/wow/patch/01/23/${hash}.index`,
  );
  expect(objectPath({ cdnPath: 'tpr/configs/data', kind: 'product', hash })).toBe(`tpr/configs/data/01/23/${hash}`);
});

test.each(['tpr/wow', 'tpr/configs/data', 'sc1live', 'tpr/Hero-Live_a.b', 'tpr/tmp', 'tmpfs'])(
  '%s may be a CDN path',
  (path) => {
    expect(isSafeCdnPath(path)).toBe(true);
  },
);

test.each([
  '',
  '/',
  '/tpr',
  'tpr/',
  'tpr//wow',
  '..',
  'tpr/../..',
  './tpr',
  'tpr/.',
  'tpr/...',
  'a\\b',
  'C:/x',
  'a b',
  'a\0b',
  'tpr/wow\n',
  'a?b',
  'http://x/y',
  'tmp',
  'groups/x',
  'names',
  'Manifests/tpr',
  'channels',
  'partial',
  'ledger.db',
  'LOCK.db-wal',
])('%j may not', (path) => {
  expect(isSafeCdnPath(path)).toBe(false);
});

test('everything of a store is below its root', () => {
  for (const path of Object.values(storeLayout('/a/store'))) expect(path.startsWith('/a/store')).toBe(true);
  expect(storeLayout('/a/store').ledger).toBe('/a/store/ledger.db');
});
