import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { syntheticCdn } from '../support/own-cdn.ts';
import { runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';

const scratch = scratchFolder();

describe('cdns, against a CDN', () => {
  let cdn: SyntheticCdn;
  beforeAll(async () => {
    cdn = await syntheticCdn();
  });
  afterAll(() => cdn.close());

  test('shows path and hosts, each server on a line', () => {
    const { status, stdout } = runPakrat(['cdns', 'wow', '--patch-url', cdn.url, '--store', scratch('s')]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Path +tpr\/wow$/m);
    expect(stdout).toMatch(/^Servers +http:\/\/127\.0\.0\.1:\d+\/\?maxhosts=4$/m);
    expect(stdout).toMatch(/^ +https:\/\/127\.0\.0\.1:\d+\/\?fallback=1&maxhosts=4$/m);
  });

  test('--json, over Ribbit as well', () => {
    const { status, stdout } = runPakrat([
      'cdns',
      'wow',
      '--patch-url',
      cdn.ribbitUrl,
      '--store',
      scratch('s'),
      '--json',
    ]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      product: 'wow',
      seqn: 1001,
      rows: [{ Name: 'us', Path: 'tpr/wow', ConfigPath: 'tpr/configs/data' }, {}, {}, {}, {}],
    });
  });
});
