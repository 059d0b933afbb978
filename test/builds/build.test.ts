import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
import { decodeCdnConfig } from '../../src/formats/configs/cdn-config.ts';
import { type LyingServer, lyingServer } from '../support/lying-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type GeneratedCdn, generateCdn, type OpenedBuild, openGenerated } from '../sync/generated-build.ts';

const scratch = scratchFolder();

describe('a build config that gives the encoding file one key', () => {
  let common: GeneratedCdn;
  let server: LyingServer;
  let opened: OpenedBuild | undefined;
  beforeAll(() => {
    common = generateCdn();
  });
  beforeEach(async () => {
    server = await lyingServer(common.objects);
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
    await server.close();
  });

  const pathOf = (hash: string): string => `tpr/wow/config/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;

  /** The CDN with another build config. */
  function withConfig(change: (text: string) => string): GeneratedCdn {
    const { buildConfig, ...identity } = common.identity('a');
    const bytes = new TextEncoder().encode(change(new TextDecoder().decode(common.objects.get(pathOf(buildConfig)))));
    server.objects.set(pathOf(md5Hex(bytes)), bytes);
    return { ...common, identity: () => ({ ...identity, buildConfig: md5Hex(bytes) }) };
  }
  const open = (root: string, cdn: GeneratedCdn): Promise<OpenedBuild> =>
    openGenerated({ root: scratch(root), cdn, build: 'a', servers: [server] });

  test('is read where its size tells the other', async () => {
    opened = await open(
      'by-size',
      withConfig((text) => text.replace(/^(encoding = \w+) \w+$/m, '$1')),
    );
    const whole = await openGenerated({ root: scratch('whole'), cdn: common, build: 'a', servers: [server] });
    expect(opened.build.encoding.layout).toEqual(whole.build.encoding.layout);
    await whole.close();
  });

  test('is refused by name where nothing tells it', async () => {
    const cdn = withConfig((text) =>
      text.replace(/^(encoding = \w+) \w+$/m, '$1').replace(/^(encoding-size = \d+) \d+$/m, '$1'),
    );
    const { buildConfig } = cdn.identity('a');
    await expect(open('unknown', cdn)).rejects.toMatchObject({
      code: 'E_FORMAT',
      message: expect.stringContaining(buildConfig),
    });
  });

  test('and lies loose is fetched while indices of archives still come, and not again', async () => {
    const config = new TextDecoder().decode(common.objects.get(pathOf(common.identity('a').buildConfig)));
    const [, ekey] = /^encoding = \w+ (\w+)$/m.exec(config)!;
    const isIndex = (path: string): boolean => path.endsWith('.index');
    const isEncoding = (path: string): boolean => path.endsWith(`/${ekey}`);
    const { fileIndex } = decodeCdnConfig(common.objects.get(pathOf(common.identity('a').cdnConfig))!);
    // Those of archives come when they are asked for once more.
    server.lie = ({ path }, count) =>
      isIndex(path) && !path.includes(fileIndex!) && count === 1 ? { kind: 'stall', after: 10 } : undefined;
    opened = await open('early', common);
    const paths = server.asked.map(({ path }) => path);
    expect(paths.findIndex(isEncoding)).toBeLessThan(paths.findLastIndex(isIndex));
    expect(paths.filter(isEncoding)).toHaveLength(1);
  });

  test.each([
    ['and so is the download manifest of a build that is synced', true],
    ['and nobody asks for the download manifest of one that is not', undefined],
  ])('%s', async (_, wantsDownload) => {
    const config = new TextDecoder().decode(common.objects.get(pathOf(common.identity('a').buildConfig)));
    const [, ekey] = /^download = \w+ (\w+)$/m.exec(config)!;
    const isIndex = (path: string): boolean => path.endsWith('.index');
    const { fileIndex } = decodeCdnConfig(common.objects.get(pathOf(common.identity('a').cdnConfig))!);
    server.lie = ({ path }, count) =>
      isIndex(path) && !path.includes(fileIndex!) && count === 1 ? { kind: 'stall', after: 10 } : undefined;
    const root = scratch(`download-${wantsDownload}`);
    opened = await openGenerated({
      root,
      cdn: common,
      build: 'a',
      servers: [server],
      ...(wantsDownload && { wantsDownload }),
    });
    const paths = server.asked.map(({ path }) => path);
    const places = paths.flatMap((path, i) => (path.endsWith(`/${ekey}`) ? [i] : []));
    if (wantsDownload === undefined) expect(places).toEqual([]);
    else expect(places[0]).toBeLessThan(paths.findLastIndex(isIndex));
    // Once in all.
    expect((await opened.build.download())?.count).toBeGreaterThan(0);
    expect(server.asked.filter(({ path }) => path.endsWith(`/${ekey}`))).toHaveLength(1);
  });

  test('and cannot be had says so, however early it was asked for', async () => {
    const config = new TextDecoder().decode(common.objects.get(pathOf(common.identity('a').buildConfig)));
    const [, ekey] = /^encoding = \w+ (\w+)$/m.exec(config)!;
    server.lie = ({ path }) => (path.endsWith(`/${ekey}`) ? { kind: 'status', status: 404 } : undefined);
    await expect(open('lacking', common)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });
});
