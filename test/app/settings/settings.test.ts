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
    const file = { region: 'eu', sync: { jobs: 3 }, regions: ['eu', 'zz'] };
    const given = { sync: { smallJobs: 1 }, network: { idleMs: 7 } };
    expect(mergeSettings(file, given)).toMatchObject({
      region: 'eu',
      regions: ['eu', 'zz'],
      sync: { jobs: 3, smallJobs: 1, gapBytes: 65_536 },
      network: { idleMs: 7, connectMs: 5000 },
    });
    expect(mergeSettings(file, { sync: { jobs: 4 } }).sync.jobs).toBe(4);
    expect(mergeSettings().sync.jobs).toBe(8);
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

test('the name and password of a proxy are not shown', () => {
  const at = (httpProxy: string): unknown =>
    listSettings({ name: 'a', settings: { network: { httpProxy } } }).find(({ name }) => name === 'network.httpProxy');
  for (const [set, shown] of [
    ['http://me:secret@web:3128/', 'http://web:3128/'],
    ['me:secret@web:3128', 'web:3128'],
    ['socks5://me:se/cr@et@web', 'socks5://web'],
    ['web:3128', 'web:3128'],
  ] as const)
    expect(at(set)).toEqual({ name: 'network.httpProxy', value: shown, from: 'a' });
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
