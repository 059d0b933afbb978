import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
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

  /** The CDN with another build config. */
  function withConfig(change: (text: string) => string): GeneratedCdn {
    const { buildConfig, ...identity } = common.identity('a');
    const path = (hash: string): string => `tpr/wow/config/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
    const bytes = new TextEncoder().encode(change(new TextDecoder().decode(common.objects.get(path(buildConfig)))));
    server.objects.set(path(md5Hex(bytes)), bytes);
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
});
