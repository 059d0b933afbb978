import { writeFileSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { type CheckedOptions, checkOptions } from '../../../src/app/session/session-options.ts';
import { type GlobalFlags, sessionOptions } from '../../../src/cli/flags/global-flags.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

afterEach(() => {
  delete process.env.PAKRAT_PATCH_URL;
  delete process.env.PAKRAT_CONFIG;
});

/** The options of the session that a command opens. */
const optionsOf = (flags: GlobalFlags, dataFolder = '/d'): CheckedOptions =>
  checkOptions(sessionOptions(flags, dataFolder));
const services = (...urls: string[]): string[] => urls.map((url) => `${url}/{product}/{endpoint}`);

test('without flags: the settings, and the data folder of the user', () => {
  const options = optionsOf({}, '/data/pakrat');
  expect(options).toMatchObject({ store: '/data/pakrat/store', region: 'us', locale: 'enUS', offline: false });
  expect(options.services).toContain('https://us.version.battle.net/v2/products/{product}/{endpoint}');
  expect(options.ownHosts).toBeUndefined();
});

test('flags win, and are brought to one spelling', () => {
  process.env.PAKRAT_CONFIG = scratch('mine.json');
  writeFileSync(scratch('mine.json'), JSON.stringify({ region: 'kr', locale: 'koKR' }));
  expect(optionsOf({})).toMatchObject({ region: 'kr', locale: 'koKR' });
  const options = optionsOf({
    store: 'here',
    region: 'EU',
    locale: 'dede',
    'cdn-host': ['a', 'b'],
    offline: true,
  });
  expect(options).toMatchObject({ region: 'eu', locale: 'deDE', offline: true });
  expect(options.ownHosts).toEqual([
    { base: 'https://a', fallback: false },
    { base: 'http://a', fallback: false },
    { base: 'https://b', fallback: false },
    { base: 'http://b', fallback: false },
  ]);
  expect(options.store).toBe(`${process.cwd()}/here`);
});

test('PAKRAT_PATCH_URL holds one URL or several; the flag wins over it', () => {
  process.env.PAKRAT_PATCH_URL = 'http://a http://b';
  expect(optionsOf({}).services).toEqual(services('http://a', 'http://b'));
  expect(optionsOf({ 'patch-url': ['http://c'] }).services).toEqual(services('http://c'));
});

test('a region or locale that is none is a usage error that names those that are', () => {
  expect(() => optionsOf({ region: 'zz' })).toThrow(
    expect.objectContaining({ code: 'E_USAGE', hint: expect.stringContaining('us, eu') }),
  );
  expect(() => optionsOf({ locale: 'klingon' })).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
});

test('a region is checked with a service of one’s own, too, which may add regions of its own', () => {
  const mars: GlobalFlags = { region: 'mars', 'patch-url': ['http://a'] };
  const hint = expect.stringMatching(/us, eu, .*"regions"/);
  expect(() => optionsOf(mars)).toThrow(expect.objectContaining({ code: 'E_USAGE', hint }));
  process.env.PAKRAT_CONFIG = scratch('mine.json');
  writeFileSync(scratch('mine.json'), JSON.stringify({ regions: ['us', 'mars'] }));
  expect(optionsOf(mars).region).toBe('mars');
});
