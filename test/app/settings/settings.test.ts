import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { listSettings, mergeSettings } from '../../../src/app/settings/settings.ts';

describe('mergeSettings', () => {
  test('the defaults are those that the documents promise', () => {
    expect(mergeSettings()).toMatchObject({
      region: 'us',
      locale: 'enUS',
      regions: ['us', 'eu', 'kr', 'tw', 'sg', 'cn'],
      sync: { jobs: 8, smallJobs: 32, gapBytes: 64 * 1024, maxRangeBytes: 256 * 1024 * 1024 },
      network: { connectMs: 5000, idleMs: 15_000, versionServiceMs: 5000, attemptsPerHost: 5 },
    });
    expect(mergeSettings()).not.toHaveProperty('$schema');
    expect(mergeSettings().keys.url).toBe('https://raw.githubusercontent.com/wowdev/TACTKeys/master/WoW.txt');
    const listfile = 'https://github.com/wowdev/wow-listfile/releases/latest/download/community-listfile.csv';
    expect(mergeSettings().listfile.url).toBe(listfile);
  });

  test('a layer changes single settings, lists whole; the last one counts', () => {
    const file = { name: 'mine.json', settings: { region: 'eu', sync: { jobs: 3 }, regions: ['eu', 'zz'] } };
    const given = { name: 'given', settings: { sync: { smallJobs: 1 }, network: { idleMs: 7 } } };
    expect(mergeSettings(file, given)).toMatchObject({
      region: 'eu',
      regions: ['eu', 'zz'],
      sync: { jobs: 3, smallJobs: 1, gapBytes: 65_536 },
      network: { idleMs: 7, connectMs: 5000 },
    });
    expect(mergeSettings(file, { name: 'given', settings: { sync: { jobs: 4 } } }).sync.jobs).toBe(4);
    expect(mergeSettings().sync.jobs).toBe(8);
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
    const merge = () => mergeSettings({ name: 'mine.json', settings });
    expect(merge).toThrow(expect.objectContaining({ code: 'E_USAGE', message: expect.stringContaining(message) }));
    expect(merge).toThrow('mine.json');
  });
});

test('each setting says which layer it comes from', () => {
  const settings = { region: 'eu', sync: { jobs: 3 }, regions: ['eu'] };
  const rows = listSettings({ name: 'mine.json', settings });
  expect(rows.filter(({ from }) => from !== 'default')).toEqual([
    { name: 'region', value: 'eu', from: 'mine.json' },
    { name: 'regions', value: ['eu'], from: 'mine.json' },
    { name: 'sync.jobs', value: 3, from: 'mine.json' },
  ]);
  expect(rows).toContainEqual({ name: 'sync.gapBytes', value: 65_536, from: 'default' });
});

test('every setting has a meaning and bounds in the schema, and a default', () => {
  const read = (name: string) => JSON.parse(readFileSync(join('config', name), 'utf8')) as Record<string, unknown>;
  const schema = read('schema.json') as { properties: Record<string, { properties?: Record<string, object> }> };
  const defaults = read('default.json');
  expect(Object.keys(schema.properties)).toEqual(Object.keys(defaults));
  for (const group of ['network', 'sync']) {
    const rules = schema.properties[group]?.properties ?? {};
    expect(Object.keys(rules)).toEqual(Object.keys(defaults[group] as object));
    for (const rule of Object.values(rules)) expect((rule as { description?: string }).description).toMatch(/\.$/);
  }
});
