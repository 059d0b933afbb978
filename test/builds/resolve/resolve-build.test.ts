import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { findCalled, versionOfBuildName } from '../../../src/builds/resolve/build-spec.ts';
import type { Pakrat } from '../../../src/pakrat.ts';
import { scratchFolder } from '../../support/scratch.ts';
import type { SyntheticCdn } from '../../support/served-cdn.ts';
import { syntheticCdn } from '../../support/synthetic-cdn.ts';
import { readTruth, type Truth } from '../../support/truth.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();

/*
 * The tree has two products: the live build of `wow` is B, that of `wow_old` is A. So each product's tables name a build that the other's do
 * not, and the CDN config of A lists only the archives that A has.
 */
let cdn: SyntheticCdn;
let keys: Record<'build' | 'cdn', Record<'a' | 'b', string>>;
let truthB: Truth;
let number = 0;

beforeAll(async () => {
  cdn = await syntheticCdn({ make: ['--files', '60', '--total-bytes', '400K', '--archives', '3'] });
  keys = cdn.summary.configs as typeof keys;
  truthB = readTruth(cdn.root, 'b');
});
afterAll(() => cdn.close());

interface Used {
  offline?: boolean;
  store?: string;
}

/** Works with a session on a store, a new one unless given, and gathers its notes. */
async function use<Result>(
  work: (pakrat: Pakrat, notes: string[], store: string) => Promise<Result>,
  { offline = false, store = scratch(`store${number++}`) }: Used = {},
): Promise<Result> {
  return withPakrat({ store, patchUrl: cdn.url, offline }, (pakrat) => work(pakrat, [], store));
}

/** The build that is opened by a name, and what is said about that. */
async function opened(
  pakrat: Pakrat,
  name: string,
): Promise<{ buildConfig: unknown; cdnConfig: unknown; name: unknown; notes: string[] }> {
  const notes: string[] = [];
  const source = await pakrat.open(name, { onProgress: (event) => event.type === 'note' && notes.push(event.text) });
  try {
    const { buildConfig, cdnConfig, name } = await source.info();
    return { buildConfig, cdnConfig, name, notes };
  } finally {
    await source.close();
  }
}

/** The error of work that must fail. */
async function failure(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; hint: string; data: { known?: string[] } }> {
  return work.then(
    () => expect('it went well').toBe('it failed'),
    (error) => error,
  ) as never;
}

describe('a build is found by what people have seen of it', () => {
  let names: Record<string, string>;

  beforeAll(async () => {
    const info = await use(async (pakrat) => {
      const source = await pakrat.open('wow');
      const facts = await source.info();
      await source.close();
      return facts;
    });
    const { name = '', buildName = '', buildId = '', buildConfig = '' } = info as Record<string, string>;
    names = {
      name,
      buildName,
      buildId,
      buildConfig,
      upper: buildConfig.toUpperCase(),
      prefix: buildConfig.slice(0, 6),
    };
  });

  test.each(['name', 'buildId', 'buildConfig', 'upper', 'prefix'])(
    'that the version service names: by its %s',
    async (kind) => {
      expect(await use((pakrat) => opened(pakrat, `wow@${names[kind]}`))).toMatchObject({ buildConfig: keys.build.b });
    },
  );

  test.each(['name', 'buildName', 'buildId', 'buildConfig', 'upper', 'prefix'])(
    'that the store knows, offline: by its %s',
    async (kind) => {
      const store = scratch(`held-${kind}`);
      await use((pakrat) => pakrat.sync('wow', { include: ['nothing'] }).catch(() => {}), { store });
      const found = await use((pakrat) => opened(pakrat, `wow@${names[kind]}`), { store, offline: true });
      expect(found).toMatchObject({ buildConfig: keys.build.b });
    },
  );

  test('digits that several build configs begin with are refused, and all are named', () => {
    const builds = ['abcdef01', 'abcdef02', 'abcd0000'].map((buildConfig) => ({ name: '', buildConfig }));
    expect(findCalled('abcd0', builds, (build) => build)).toBe(builds[2]);
    expect(findCalled('abc', builds, (build) => build)).toBeUndefined();
    const several = (): unknown => findCalled('abcdef', builds, (build) => build);
    expect(several).toThrow(
      expect.objectContaining({ code: 'E_USAGE', data: { build: 'abcdef', known: ['abcdef01', 'abcdef02'] } }),
    );
  });
});

describe('a build that no version table names', () => {
  test('is opened under the CDN config that lists its archives, goes by its build-name, and is known from then on', async () => {
    const [store] = [scratch('unlisted')];
    await use((pakrat) => opened(pakrat, 'wow'), { store });
    const first = await use((pakrat) => opened(pakrat, `wow_old@${keys.build.b}`), { store });
    expect(first).toMatchObject({ buildConfig: keys.build.b, cdnConfig: keys.cdn.b });
    expect(first.name).not.toBe(keys.build.b);
    expect(first.notes.join()).toContain(`CDN config ${keys.cdn.b} lists its archives`);
    const report = await use((pakrat) => pakrat.sync(`wow_old@${keys.build.b}`, {}), { store });
    expect(report.build).toEqual({ name: first.name, buildConfig: keys.build.b, cdnConfig: keys.cdn.b });
    const again = await use((pakrat) => opened(pakrat, `wow_old@${first.name}`), { store, offline: true });
    expect(again).toMatchObject({ buildConfig: keys.build.b, cdnConfig: keys.cdn.b, notes: [] });
  });

  test('where no known CDN config lists all of it, the best is taken and that is said', async () => {
    const found = await use((pakrat) => opened(pakrat, `wow_old@${keys.build.b}`));
    expect(found).toMatchObject({ buildConfig: keys.build.b, cdnConfig: keys.cdn.a });
    expect(found.notes.join()).toMatch(/no known CDN config lists all of its archives.* lists \d+ % .*--cdn-config/);
  });

  test('a CDN config that is given is taken', async () => {
    const options = { include: ['*'], cdnConfig: keys.cdn.b };
    const { build, missing } = await use((pakrat) => pakrat.sync(`wow_old@${keys.build.b}`, options));
    expect(build.cdnConfig).toBe(keys.cdn.b);
    expect(missing.entries).toBe(0);
    expect(truthB.rows.length).toBeGreaterThan(0);
  });

  test('one that no host has is not found, and is no known build afterwards', async () => {
    const wrong = `${keys.build.b.slice(0, -1)}${keys.build.b.endsWith('0') ? '1' : '0'}`;
    await use(async (pakrat) => {
      expect(await failure(pakrat.sync(`wow@${wrong}`))).toMatchObject({ code: 'E_NOT_FOUND' });
      expect((await failure(opened(pakrat, 'wow@1.2.3'))).data.known).not.toContain(wrong);
    });
  });
});

describe('the live build', () => {
  const later = (ms: number): void => {
    const now = Date.now() + ms;
    jest.spyOn(Date, 'now').mockReturnValue(now);
  };
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each([
    ['offline', true],
    ['when that is recent', false],
  ])('is that of the last answer %s, with the age of it', async (_, offline) => {
    const store = scratch(`asked-${offline}`);
    const notes = async (): Promise<string> =>
      (await use((pakrat) => opened(pakrat, 'wow'), { store, offline })).notes.join();
    await use((pakrat) => opened(pakrat, 'wow'), { store });
    expect(await notes()).toBe('');
    later(3 * 60_000);
    expect(await notes()).toMatch(/the live build of wow is as of 3 min ago; `pakrat versions wow` asks again/);
  });

  test('that is asked for by its name is the same whatever the time', async () => {
    const store = scratch('named');
    const { name } = await use((pakrat) => opened(pakrat, 'wow'), { store });
    later(3 * 60_000);
    expect((await use((pakrat) => opened(pakrat, `wow@${name}`), { store })).notes).toEqual([]);
  });
});

describe('a build that the last answer does not name', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });
  const versions = (product: string): string => join(cdn.root, 'www', product, 'versions');

  test('is asked for again, however recent that answer is', async () => {
    const before = readFileSync(versions('wow_old'));
    await use(async (pakrat) => {
      const { name } = await opened(pakrat, 'wow');
      await opened(pakrat, 'wow_old');
      copyFileSync(versions('wow'), versions('wow_old'));
      const found = await opened(pakrat, `wow_old@${name}`);
      expect(found).toMatchObject({ buildConfig: keys.build.b, cdnConfig: keys.cdn.b, notes: [] });
    }).finally(() => writeFileSync(versions('wow_old'), before));
  });

  test('is not found, with those that are known, when nobody can be asked', async () => {
    const store = scratch('away');
    await use((pakrat) => opened(pakrat, 'wow'), { store });
    const later = Date.now() + 600_000;
    jest.spyOn(Date, 'now').mockReturnValue(later);
    await withPakrat({ store, patchUrl: 'http://127.0.0.1:9' }, async (pakrat) => {
      const { code, data } = await failure(opened(pakrat, 'wow@9.9.9'));
      expect({ code, known: data.known }).toEqual({
        code: 'E_NOT_FOUND',
        known: expect.arrayContaining(['11.2.0.60100']),
      });
    });
  });
});

test('version and build id are in a build-name', () => {
  expect(versionOfBuildName('WOW-65989patch1.15.8_ClassicRetail')).toEqual({ name: '1.15.8.65989', buildId: '65989' });
  expect(versionOfBuildName('WOW-65989patch1.15.8.65989')).toMatchObject({ name: '1.15.8.65989' });
  expect(versionOfBuildName('B28-something')).toBeUndefined();
});
