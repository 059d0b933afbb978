import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { scratchFolder } from '../../../support/scratch.ts';

// Few file systems can share the bytes of copies: here one seems to.
const cloned: string[] = [];
jest.unstable_mockModule('../../../../src/files/copies/copy-file.ts', () => ({
  cloneFile(from: string, to: string): boolean {
    fs.copyFileSync(from, to);
    cloned.push(from);
    return true;
  },
  copySparse() {},
}));
const { importFolder } = await import('../../../../src/keep/import/import-folder.ts');
const { openStore } = await import('../../../../src/store/store.ts');
const { encodeArchiveIndex } = await import('../../../../src/formats/indices/archive-index.ts');
const { encodeBlte } = await import('../../../../src/formats/blte/encode.ts');

const scratch = scratchFolder();
const entries = ['first', 'second'].map((text) => {
  const { bytes, ekey } = encodeBlte(Buffer.from(text.repeat(500)), 'b:{*=n}');
  return { bytes, ekey: Buffer.from(ekey, 'hex') };
});
let number = 0;
let folder: string;
let archive: string;

beforeEach(() => {
  number += 1;
  cloned.length = 0;
  folder = scratch(`mirror${number}`);
  let offset = 0;
  const rows = entries.map(({ bytes, ekey }) => {
    const row = { ekey, size: bytes.length, offset, archive: 0 };
    offset += bytes.length;
    return row;
  });
  const index = encodeArchiveIndex(rows);
  archive = join('tpr/wow/data', index.name.slice(0, 2), index.name.slice(2, 4), index.name);
  fs.mkdirSync(dirname(join(folder, archive)), { recursive: true });
  fs.writeFileSync(join(folder, `${archive}.index`), index.bytes);
  fs.writeFileSync(join(folder, archive), Buffer.concat(entries.map(({ bytes }) => bytes)));
});

async function imported() {
  const store = openStore(scratch(`store${number}`), { create: true });
  const report = await importFolder(store, folder, { link: false, dryRun: false, region: 'us' });
  const held = { spans: store.ledger.spans(archive), file: fs.readFileSync(store.file(archive)) };
  expect(fs.readdirSync(store.layout.temporary).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  store.close();
  return { report, ...held };
}
const whole = (): Buffer => Buffer.concat(entries.map(({ bytes }) => bytes));

test('an archive that is right is cloned, and whole at once', async () => {
  const { report, spans, file } = await imported();
  expect(cloned).toHaveLength(1);
  expect(report.taken.entries).toBe(2);
  expect(spans).toEqual([{ start: 0, end: file.length }]);
  expect(file.equals(whole())).toBe(true);
});

test('one with bytes behind its end is cut; the file that it came from is not', async () => {
  fs.appendFileSync(join(folder, archive), 'behind');
  const { file } = await imported();
  expect(file.equals(whole())).toBe(true);
  expect(fs.statSync(join(folder, archive)).size).toBe(whole().length + 6);
});

test('of one that is wrong the clone goes, and what is right is taken', async () => {
  const bytes = whole();
  bytes[100]! ^= 1;
  fs.writeFileSync(join(folder, archive), bytes);
  const { report, spans } = await imported();
  expect(cloned).toHaveLength(1);
  expect(report).toMatchObject({ taken: { entries: 1 }, damaged: [{ code: 'E_INTEGRITY' }] });
  // The header of the wrong entry is right.
  expect(spans).toEqual([
    { start: 0, end: 36 },
    { start: entries[0]!.bytes.length, end: bytes.length },
  ]);
});
