import { afterEach, expect, test } from '@jest/globals';
import { globalOptions } from '../../src/cli/global-options.ts';

afterEach(() => {
  delete process.env.PAKRAT_PATCH_URL;
});

test('without flags: the settings, and the data folder of the user', () => {
  expect(globalOptions({}, '/data/pakrat')).toMatchObject({
    store: '/data/pakrat/store',
    region: 'us',
    locale: 'enUS',
    patchUrls: [],
    cdnHosts: [],
    offline: false,
    quiet: false,
  });
});

test('flags win, and are brought to one spelling', () => {
  const options = globalOptions(
    { store: 'here', region: 'EU', locale: 'dede', 'cdn-host': ['a', 'b'], offline: true },
    '/d',
  );
  expect(options).toMatchObject({ region: 'eu', locale: 'deDE', cdnHosts: ['a', 'b'], offline: true });
  expect(options.store).toBe(`${process.cwd()}/here`);
});

test('PAKRAT_PATCH_URL holds one URL or several; the flag wins over it', () => {
  process.env.PAKRAT_PATCH_URL = 'http://a http://b';
  expect(globalOptions({}, '/d').patchUrls).toEqual(['http://a', 'http://b']);
  expect(globalOptions({ 'patch-url': ['http://c'] }, '/d').patchUrls).toEqual(['http://c']);
});

test('a region or locale that is none is a usage error that names those that are', () => {
  expect(() => globalOptions({ region: 'zz' }, '/d')).toThrow(
    expect.objectContaining({ code: 'E_USAGE', hint: expect.stringContaining('us, eu') }),
  );
  expect(() => globalOptions({ locale: 'klingon' }, '/d')).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
});

test('a service of one’s own may have regions of its own', () => {
  expect(globalOptions({ region: 'xx', 'patch-url': ['http://a'] }, '/d').region).toBe('xx');
});
