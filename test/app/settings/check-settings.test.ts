import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { checkSettings } from '../../../src/app/settings/check-settings.ts';

test('the defaults are right, and a setting that is undefined is none', () => {
  checkSettings('the defaults', JSON.parse(readFileSync('config/default.json', 'utf8')));
  checkSettings('mine', { region: undefined, sync: { jobs: undefined } });
});

test.each([
  [{ sync: { jobs: 0 } }, 'sync.jobs: 0 is less than 1'],
  [{ sync: { jobs: '8' } }, 'sync.jobs: Instance type "string" is invalid'],
  [{ sync: { jobs: 1.5 } }, 'sync.jobs'],
  [{ sync: { job: 8 } }, 'there is no setting sync.job'],
  [{ sync: 8 }, 'sync: Instance type "number" is invalid. Expected "object"'],
  [{ sync: null }, 'sync: Instance type "null"'],
  [{ speed: 1 }, 'there is no setting speed'],
  [{ region: 'United States' }, 'region: String does not match pattern'],
  [{ locale: 'en' }, 'locale'],
  [{ regions: [] }, 'regions: Array has too few items'],
  [{ regions: [1] }, 'regions.0: Instance type "number"'],
  [{ versionServices: [{ regionUrls: {} }] }, 'versionServices.0: Instance does not have required property "url"'],
  [{ versionServices: [{ url: 'us.version.battle.net' }] }, 'versionServices.0.url'],
  [{ versionServices: [{ url: 'http://a', regionUrls: { cn: 3 } }] }, 'versionServices.0.regionUrls.cn'],
  [{ constructor: 1 }, 'there is no setting constructor'],
  [[], 'Expected "object"'],
])('%j is refused, and the message says where', (settings, message) => {
  const check = () => checkSettings('mine.json', settings);
  expect(check).toThrow(expect.objectContaining({ code: 'E_USAGE', message: expect.stringContaining(message) }));
  expect(check).toThrow('mine.json');
});
