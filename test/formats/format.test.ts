import { describe, expect, test } from '@jest/globals';
import { startsWith, startsWithU32le } from '../../src/formats/format.ts';
import * as door from '../../src/formats/index.ts';
import { randomSource } from '../support/hostile.ts';
import { samples } from './round-trip-samples.ts';
import type { FormatName } from './round-trips.ts';
import { htmlPage } from './text.ts';

const all = Object.values(door).filter(
  (value): value is door.Format => typeof value === 'object' && value !== null && 'matches' in value,
);

/** The formats that tell the samples of each kind; kinds that nothing tells are left out. */
const tellers: Partial<Record<FormatName, readonly door.Format[]>> = {
  'Armadillo key': [door.armadilloKeyFormat],
  'BLTE header': [door.blteFormat],
  config: [door.configFormat],
  'CDN config': [door.cdnConfigFormat],
  'patch config': [door.patchConfigFormat],
  'key list': [door.keyListFormat],
  'key ring': [door.keyRingFormat],
  'product config': [door.productConfigFormat],
  'archive index': [door.archiveIndexFormat],
  'local index': [door.localIndexFormat],
  shmem: [door.shmemFormat],
  'download manifest': [door.downloadFormat],
  'encoding file': [door.encodingFormat],
  'install manifest': [door.installFormat],
  'size manifest': [door.sizeFormat],
  'patch index': [door.patchIndexFormat],
  'patch manifest': [door.patchManifestFormat],
  'content manifest': [door.contentManifestFormat],
  'Packages.dat': [door.diablo3PackagesFormat],
  'CoreTOC of Diablo III': [door.diablo3TocFormat],
  'Diablo III root': [door.diablo3RootFormat],
  'Diablo III folder': [door.diablo3FolderFormat],
  'CoreTOC of Diablo IV': [door.diablo4TocFormat, door.olderDiablo4TocFormat],
  EncryptedNameDict: [door.encryptedNamesFormat],
  EncryptedSNOs: [door.encryptedSnosFormat],
  'shared payloads': [door.sharedPayloadsFormat],
  listfile: [door.listfileFormat],
  MAR: [door.marFormat],
  'MNDX root': [door.mndxFormat],
  'Overwatch root': [door.overwatchRootFormat],
  'package manifest': [door.packageManifestFormat],
  'text root': [door.textRootFormat],
  'TVFS manifest': [door.tvfsFormat],
  'WoW root': [door.wowRootFormat, door.headerlessWowRootFormat],
  'Ribbit answer': [door.ribbitFormat],
};

/** The part of an object that a format must be given. */
function seenBy({ needsAll }: door.Format, bytes: Uint8Array): Uint8Array {
  return needsAll === true ? bytes : bytes.subarray(0, door.headSize);
}

describe.each(Object.entries(tellers) as [FormatName, readonly door.Format[]][])('%s', (name, formats) => {
  test('is told, and an error page and no bytes are not', () => {
    for (const sample of samples[name]) {
      expect(formats.some((format) => format.matches(seenBy(format, sample)))).toBe(true);
    }
    for (const format of formats) {
      expect([format.matches(htmlPage), format.matches(new Uint8Array())]).toEqual([false, false]);
    }
  });
});

test('no format throws, whatever the bytes', () => {
  const random = randomSource(3);
  const answers = new Set<unknown>();
  for (const bytes of Object.values(samples).flat()) {
    for (let i = 0; i < 10; i++) {
      const changed = bytes.slice(0, Math.floor(random() * (bytes.length + 1)));
      if (changed.length > 0) changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256);
      for (const format of all) answers.add(format.matches(changed));
    }
  }
  expect([...answers].sort()).toEqual([false, true]);
  expect(all.length).toBeGreaterThan(40);
});

test('a config is told by its head, though a line goes on behind it', () => {
  const long = new TextEncoder().encode(
    `# CDN Configuration\n\narchives = ${'0123456789abcdef '.repeat(400)}\nbuilds = x\n`,
  );
  expect(door.cdnConfigFormat.matches(long.subarray(0, door.headSize))).toBe(true);
  const cut = new TextEncoder().encode(`a = 1\n${'# comment\n'.repeat(500)}`).subarray(0, door.headSize);
  cut.set(new TextEncoder().encode('\nvfs-1'), door.headSize - 6);
  expect(door.configFormat.matches(cut)).toBe(true);
  expect(door.configFormat.matches(new TextEncoder().encode('word '.repeat(2000)))).toBe(false);
});

test('magics are compared to their end', () => {
  expect(startsWith('IN\x01', 'IN\x02')(Uint8Array.of(0x49, 0x4e, 2))).toBe(true);
  expect(startsWith('IN\x01')(Uint8Array.of(0x49, 0x4e))).toBe(false);
  const view = new Uint8Array(20).subarray(4);
  view.set([4, 3, 2, 1]);
  expect([startsWithU32le(0x01020304)(view), startsWithU32le(0x01020304)(view.subarray(0, 7))]).toEqual([true, false]);
});
