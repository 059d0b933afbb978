import { expect, test } from '@jest/globals';
import { decodeCdnConfig } from '../../../src/formats/configs/cdn-config.ts';
import { FolderObjects } from '../../../src/publish/earlier/earlier-objects.ts';
import { makeCdnConfig } from '../../../src/publish/manifests/configs.ts';
import { ArchiveWriter } from '../../../src/publish/objects/archive-writer.ts';
import { allSteps } from '../../support/all-steps.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const folder = { out: scratch('cdn'), cdnPath: 'tpr/game' };

test('an object is found in its archive, or loose, and none that begins like another', async () => {
  const archives = new ArchiveWriter(folder, 'data', 500);
  // All of them begin alike; some archives have several pages.
  const keyOf = (i: number): string => `12345678${(i * 7919).toString(16).padStart(24, '0')}`;
  const sizes = Array.from({ length: 400 }, (_, i) => 1 + (i % 7));
  for (const [i, size] of sizes.entries()) {
    if (i % 100 === 3) archives.addLoose(keyOf(i), Buffer.alloc(size, i));
    else archives.add(keyOf(i), Buffer.alloc(size, i));
  }
  const made = allSteps(archives.finish());
  archives.close();
  expect(made.archives.length).toBeGreaterThan(3);
  const config = decodeCdnConfig(makeCdnConfig(made, { builds: [] }).bytes);
  const objects = await FolderObjects.open(folder, config, undefined);
  for (const [i, size] of sizes.entries()) {
    expect(objects.has(keyOf(i))).toBe(true);
    expect(objects.placeOf(keyOf(i)).size).toBe(size);
    expect(objects.placeOf(keyOf(i)).path.endsWith(keyOf(i))).toBe(i % 100 === 3);
  }
  for (const other of [`12345678${'f'.repeat(24)}`, `12345678${'0'.repeat(23)}1`, 'f'.repeat(32), '0'.repeat(32)])
    expect(objects.has(other)).toBe(false);
  expect(() => objects.placeOf('0'.repeat(32))).toThrow(expect.objectContaining({ code: 'E_NOT_FOUND' }));
});
