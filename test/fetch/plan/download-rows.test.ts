import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { DownloadFile } from '../../../src/builds/manifests/download-file.ts';
import { addDownload, amountsByTag, rankWanted } from '../../../src/fetch/plan/download-rows.ts';
import { WantedList, wantedRow } from '../../../src/fetch/plan/wanted.ts';
import { type DownloadEntry, encodeDownload } from '../../../src/formats/manifests/download.ts';
import { writeDerived } from '../../../src/store/derived/derived-writer.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const opened: DownloadFile[] = [];
afterAll(() => {
  for (const file of opened) file.close();
});

/** A key that begins with some bytes and ends with a number. */
function key(start: readonly number[], number: number): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes.set(start);
  bytes.writeUInt32BE(number, 12);
  return bytes;
}

function downloadOf(
  entries: readonly DownloadEntry[],
  mask = new Uint8Array(Math.ceil(entries.length / 8)),
): DownloadFile {
  const tags = [{ name: 'odd', type: 1, mask }];
  const whole = entries.map((entry) => ({ flags: 0, ...entry }));
  const shape = { version: 3, basePriority: 1, flagSize: 2 } as const;
  const path = join(scratch(), `download-${opened.length}`);
  writeDerived(path, encodeDownload({ ...shape, count: entries.length, entries: whole, tags }), scratch());
  const file = new DownloadFile(path);
  opened.push(file);
  return file;
}

/** Keys that a CDN has (even ones), and those that nobody has on purpose: each begins with the same bytes, so that only the last differ. */
const starts: [string, number, readonly number[][]][] = [
  ['that differ from the first byte on', 600_000, Array.from({ length: 256 }, (_, byte) => [byte, 255 - byte, byte])],
  ['of which all begin alike', 60_000, [[7, 7, 7, 7, 7, 7]]],
  [
    'of which all begin with 0 or with 255',
    60_000,
    [
      [0, 0, 0, 0, 0],
      [255, 255, 255, 255, 255],
    ],
  ],
];

test.each(starts)(
  'entries with keys %s get their priorities, and those that lack are added',
  async (_, count, beginnings) => {
    const keyOf = (i: number): Uint8Array => key(beginnings[i % beginnings.length]!, i);
    const list = new WantedList();
    const listed = Array.from({ length: count / 2 }, (_, i) => i).map(keyOf);
    for (const ekey of listed.sort(Buffer.compare)) list.add(ekey, 5);
    // In no order, half of them in the list; the last of one key counts.
    const entries = Array.from({ length: count / 2 }, (_, i) => (i * 7919 * 2) % count);
    const rank = (i: number): number => (i % 50) - 20;
    const manifest = downloadOf([
      { ekey: keyOf(entries[0]!), size: 9, priority: 99 },
      ...entries.map((i) => ({ ekey: keyOf(i), size: 9, priority: rank(i) })),
    ]);
    const added = await addDownload(list, manifest, undefined);
    const wanted = list.sorted();
    await rankWanted(wanted, manifest, { entries: added, signal: undefined });

    const known = new Set(entries);
    expect(wanted.count).toBe(new Set([...entries, ...Array.from({ length: count / 2 }, (_, i) => i)]).size);
    const wrong = [...wanted].filter((row) => {
      const { ekey, size, priority } = wantedRow(row);
      const i = Buffer.from(ekey).readUInt32BE(12);
      return size !== (i < count / 2 ? 5 : 9) || priority !== (known.has(i) ? rank(i) : 0);
    });
    expect(wrong).toHaveLength(0);
  },
);

test('amounts by tag are those of wanted entries, and of all where all are wanted', async () => {
  const count = 300_001;
  const entries = Array.from({ length: count }, (_, i) => ({ ekey: key([i % 251, i % 7], i), size: i, priority: 0 }));
  // Every other entry, and what nobody reads behind the last.
  const manifest = downloadOf(entries, new Uint8Array(Math.ceil(count / 8)).fill(0x55));
  const list = new WantedList();
  for (const { ekey, size } of entries.filter((_, i) => i % 3 === 0)) list.add(ekey, size);
  const amountOf = (picked: (i: number) => boolean) => {
    const sizes = entries.map(({ size }) => size).filter(picked);
    return { entries: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  };
  const amounts = async (wanted: Parameters<typeof amountsByTag>[0]) =>
    (await amountsByTag(wanted, manifest)).map(({ amount }) => amount);
  expect(await amounts(undefined)).toEqual([amountOf((i) => i % 2 === 1)]);
  expect(await amounts(list.sorted())).toEqual([amountOf((i) => i % 2 === 1 && i % 3 === 0)]);
});
