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
const optionsOf = async (flags: GlobalFlags, dataFolder = '/d'): Promise<CheckedOptions> =>
  checkOptions(await sessionOptions(flags, dataFolder));
const services = (...urls: string[]): string[] => urls.map((url) => `${url}/{product}/{endpoint}`);

test('without flags: the settings, and the data folder of the user', async () => {
  const options = await optionsOf({}, '/data/pakrat');
  expect(options).toMatchObject({ store: '/data/pakrat/store', region: 'us', locale: 'enUS', offline: false });
  expect(options.services).toContain('https://us.version.battle.net/v2/products/{product}/{endpoint}');
  expect(options.ownHosts).toBeUndefined();
});

test('flags win, and are brought to one spelling', async () => {
  process.env.PAKRAT_CONFIG = scratch('mine.json');
  writeFileSync(scratch('mine.json'), JSON.stringify({ region: 'kr', locale: 'koKR' }));
  expect(await optionsOf({})).toMatchObject({ region: 'kr', locale: 'koKR' });
  const options = await optionsOf({
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

test('PAKRAT_PATCH_URL holds one URL or several; the flag wins over it', async () => {
  process.env.PAKRAT_PATCH_URL = 'http://a http://b';
  expect((await optionsOf({})).services).toEqual(services('http://a', 'http://b'));
  expect((await optionsOf({ 'patch-url': ['http://c'] })).services).toEqual(services('http://c'));
});

test('a region or locale that is none is a usage error that names those that are', async () => {
  await expect(optionsOf({ region: 'zz' })).rejects.toThrow(
    expect.objectContaining({ code: 'E_USAGE', hint: expect.stringContaining('us, eu') }),
  );
  await expect(optionsOf({ locale: 'klingon' })).rejects.toThrow(expect.objectContaining({ code: 'E_USAGE' }));
});

test('a region is checked with a service of one’s own, too, which may add regions of its own', async () => {
  const mars: GlobalFlags = { region: 'mars', 'patch-url': ['http://a'] };
  const hint = expect.stringMatching(/us, eu, .*"regions"/);
  await expect(optionsOf(mars)).rejects.toThrow(expect.objectContaining({ code: 'E_USAGE', hint }));
  process.env.PAKRAT_CONFIG = scratch('mine.json');
  writeFileSync(scratch('mine.json'), JSON.stringify({ regions: ['us', 'mars'] }));
  expect((await optionsOf(mars)).region).toBe('mars');
});
