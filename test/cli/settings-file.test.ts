import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ownSettings, proxySettings, settingsFile, settingsFiles, userSettings } from '../../src/cli/settings-file.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const own = { ...process.env };

beforeEach(() => {
  process.env.XDG_CONFIG_HOME = scratch('xdg');
});

afterEach(() => {
  process.env = { ...own };
});

function userFile(content: unknown, path = scratch('mine.json')): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

test('PAKRAT_CONFIG names the file; without it that of the settings folder is found, and without that there is none', async () => {
  expect(await userSettings()).toBeUndefined();
  userFile({ region: 'eu' }, scratch('xdg/pakrat/config.json'));
  expect(await userSettings()).toEqual({ region: 'eu' });
  process.env.PAKRAT_CONFIG = '';
  expect(await userSettings()).toEqual({ region: 'eu' });
  process.env.PAKRAT_CONFIG = userFile({ region: 'kr' });
  expect(await userSettings()).toEqual({ region: 'kr' });
});

test('each system has its folders for settings', () => {
  const at = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}, home = '/home/me'): string[] =>
    settingsFiles({ platform, env, home });
  expect(at('linux')).toEqual(['/home/me/.config/pakrat/config.json']);
  expect(at('linux', { XDG_CONFIG_HOME: '/x' })).toEqual(['/x/pakrat/config.json']);
  expect(at('darwin')).toEqual([
    '/home/me/.config/pakrat/config.json',
    '/home/me/Library/Application Support/pakrat/config.json',
  ]);
  const home = 'C:\\Users\\me';
  const roaming = `${home}\\AppData\\Roaming`;
  expect(at('win32', { APPDATA: roaming }, home)).toEqual([`${roaming}\\pakrat\\config.json`]);
  expect(at('win32', {}, home)).toEqual([`${roaming}\\pakrat\\config.json`]);
  expect(settingsFile({ platform: 'linux', env: { PAKRAT_CONFIG: 'mine.json' }, home: '/' })).toBe('mine.json');
});

test.each([
  [{ sync: { jobs: 0 } }, 'sync.jobs: 0 is less than 1'],
  [{ speed: 1 }, 'there is no setting speed'],
  [[], 'Expected "object"'],
  ['{"region": ', 'cannot be read as settings'],
])('%j is refused, and the message says which file it is', async (content, message) => {
  const path = userFile(content, scratch('xdg/pakrat/config.json'));
  const refused = expect.objectContaining({ code: 'E_USAGE', message: expect.stringContaining(message) });
  await expect(userSettings()).rejects.toThrow(refused);
  await expect(userSettings()).rejects.toThrow(path);
});

test('a file that is named and not there is refused', async () => {
  process.env.PAKRAT_CONFIG = scratch('none.json');
  await expect(userSettings()).rejects.toThrow(expect.objectContaining({ code: 'E_USAGE' }));
});

test('proxies of the environment go over those of the file, and take nothing else away', async () => {
  expect(proxySettings({ https_proxy: '', HTTPS_PROXY: 'big:1', http_proxy: 'small:1', HTTP_PROXY: 'big:1' })).toEqual({
    network: { httpProxy: 'small:1', httpsProxy: 'big:1' },
  });
  process.env.PAKRAT_CONFIG = userFile({ region: 'kr', network: { httpProxy: 'file:1', noProxy: 'a', idleMs: 9 } });
  process.env.http_proxy = 'small:1';
  const network = { httpProxy: 'small:1', noProxy: 'a', idleMs: 9 };
  expect(await ownSettings()).toEqual({ region: 'kr', network });
});
