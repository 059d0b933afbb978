import { expect, test } from '@jest/globals';
import { decodeBuildInfo, encodeBuildInfo } from '../../../src/formats/local/build-info.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeOf } from '../../support/thrown-code.ts';

describeConformance('real tables', () => {
  test('of 2014: no product, no key ring, a slash in front of the path', () => {
    const [live, beta, ...more] = decodeBuildInfo(conformanceBytes('tact', 'heksesang-CascLib', '.build.info')).builds;
    expect(more).toEqual([]);
    const { row, ...values } = live!;
    expect(row).toMatchObject({ 'IM Size': '22434', 'CDN Path': '/tpr/wow' });
    expect(values).toEqual({
      branch: 'us',
      active: true,
      buildKey: '5a63979810790545a5ee78ccb6e4b6a5',
      cdnKey: 'f4c724cdcd9fc7544daf1682f1bc739e',
      installKey: 'e35f209178eebe1e675d4ab6193fa638',
      cdnPath: 'tpr/wow',
      hosts: ['dist.blizzard.com.edgesuite.net', 'llnw.blizzard.com'],
      tags: 'Windows x86_32 x86_64 US? enUS speech?:Windows x86_32 x86_64 US? enUS text?',
      version: '6.0.2.19027',
    });
    expect(beta).toMatchObject({ branch: 'xx', active: false, version: '6.0.2.18848' });
  });

  test('of 2018: two branches of one build, of which one is active', () => {
    const { builds } = decodeBuildInfo(conformanceBytes('tact', 'installs', 'emmiigr_wow-ui-demo', '.build.info'));
    expect(builds.map(({ branch, active, version }) => ({ branch, active, version }))).toEqual([
      { branch: 'us', active: true, version: '8.0.1.28153' },
      { branch: 'eu', active: false, version: '8.0.1.28153' },
    ]);
    expect(builds[1]!.installKey).toBeUndefined();
  });
});

const key = 'ab'.repeat(16);
const build = {
  branch: 'us',
  active: true,
  buildKey: key,
  cdnKey: key,
  hosts: ['a', 'b:80'],
  version: '1.2.3',
  product: 'wow',
};

test('builds come back as they were; rows without a build are left out', () => {
  const bytes = encodeBuildInfo({ builds: [build, { ...build, active: false, buildKey: '' }] });
  expect(decodeBuildInfo(bytes).builds).toMatchObject([build]);
});

test('a build that is changed keeps what has no name here, and gets a column where it needs one', () => {
  const written = (change: object) => {
    const table = `Note!STRING:0|Build KEY!HEX:16|CDN Path!STRING:0\nx|${key}|/tpr/wow\n`;
    const { builds, ...info } = decodeBuildInfo(new TextEncoder().encode(table));
    return new TextDecoder().decode(encodeBuildInfo({ ...info, builds: [{ ...builds[0]!, ...change }] }));
  };
  const other = 'cd'.repeat(16);
  expect(written({ buildKey: other })).toBe(`Note!STRING:0|Build KEY!HEX:16|CDN Path!STRING:0\nx|${other}|/tpr/wow\n`);
  expect(written({ product: 'wow' })).toBe(
    `Note!STRING:0|Build KEY!HEX:16|CDN Path!STRING:0|Product!STRING:0\nx|${key}|/tpr/wow|wow\n`,
  );
});

test('columns go by their names', () => {
  const text = `Product!STRING:0|Build Key!HEX:16|Active!DEC:1\nfenris|${key.toUpperCase()}|1\n`;
  expect(decodeBuildInfo(new TextEncoder().encode(text)).builds).toMatchObject([
    { active: true, buildKey: key, hosts: [], product: 'fenris' },
  ]);
});

test('what names no build is refused, whatever comes is told or refused', () => {
  const text = (...lines: string[]) => new TextEncoder().encode(`${lines.join('\n')}\n`);
  expect(codeOf(() => decodeBuildInfo(text('Name!STRING:0', 'x')))).toBe('E_FORMAT');
  expect(codeOf(() => decodeBuildInfo(text('Build Key!HEX:16', '123')))).toBe('E_FORMAT');
  expectHostileSafe(decodeBuildInfo, encodeBuildInfo({ builds: [build] }), { prefixesFail: false });
});
