import { expect, test } from '@jest/globals';
import { rowOfRegion } from '../../../src/cdn/versions/region-rows.ts';
import { decodeBpsv } from '../../../src/formats/services/bpsv.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';

const table = (column: string, regions: string[]) =>
  decodeBpsv(
    new TextEncoder().encode(
      `Path!STRING:0|${column}!STRING:0\n${regions.map((name) => `p-${name}|${name}\n`).join('')}`,
    ),
  );

test('the row of the region that was asked for, wherever its column stands', () => {
  expect(rowOfRegion(table('Region', ['us', 'eu']), ['Region'], 'eu')).toMatchObject({
    row: { Path: 'p-eu' },
    region: 'eu',
    fellBack: false,
  });
  expect(rowOfRegion(table('Name', ['US', 'KR']), ['Region', 'Name'], 'kr')).toMatchObject({
    region: 'KR',
    fellBack: false,
  });
});

test('a region without a row falls back to us, eu, xx, then the first, and says so', () => {
  const regionFor = (regions: string[]) => rowOfRegion(table('Region', regions), ['Region'], 'sg');
  expect(regionFor(['cn', 'xx', 'eu', 'us'])).toMatchObject({ region: 'us', fellBack: true });
  expect(regionFor(['cn', 'xx', 'eu'])).toMatchObject({ region: 'eu', fellBack: true });
  expect(regionFor(['cn', 'xx'])).toMatchObject({ region: 'xx', fellBack: true });
  expect(regionFor(['cn', 'kr'])).toMatchObject({ region: 'cn', fellBack: true });
  expect(regionFor([])).toBeUndefined();
});

describeConformance('rowOfRegion on real answers', () => {
  test('cdns names its regions in Name, versions in Region', () => {
    const cdns = decodeBpsv(conformanceBytes('tact', 'wowcdns', 'cdns.bb266f64'));
    expect(rowOfRegion(cdns, ['Name'], 'cn')?.row.Hosts).toContain('battlenet.com.cn');
    expect(rowOfRegion(cdns, ['Name'], 'sg')).toMatchObject({ region: 'us', fellBack: true });
    const versions = decodeBpsv(conformanceBytes('tact', 'wowcdns', 'vers.eca8be63'));
    expect(rowOfRegion(versions, ['Region'], 'sg')).toMatchObject({ fellBack: false, row: { BuildId: '25996' } });
  });
});
