import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { scratchFolder } from '../support/scratch.ts';
import { someOf } from '../support/some-of.ts';
import { type SyncedStore, syncedStore } from '../support/synced-store.ts';

/* A process that may have few files open works on fewer things at a time. */

const scratch = scratchFolder();
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
if (!hasPrlimit) console.warn('no prlimit here: that few files may be open is not tried');

(hasPrlimit ? describe : describe.skip)('with few files', () => {
  let synced: SyncedStore;
  let whole: { status: number | null };
  let many: unknown[];
  beforeAll(async () => {
    // So many that threads would extract them.
    const make = ['--files', '700', '--total-bytes', '5M', '--archives', '24', '--loose', '0.1'];
    synced = await syncedStore(scratch('original'), make);
    whole = await limited(4096, ['extract', 'wow', '--to', scratch('many'), '--store', scratch('original')]);
    many = fs.readdirSync(scratch('many'), { recursive: true }).sort();
  });
  afterAll(() => synced.cdn.close());

  function limited(
    files: number,
    args: readonly string[],
    more = ['--patch-url', synced.cdn.url],
  ): Promise<{ status: number | null; text: string }> {
    const child = spawn('prlimit', [`--nofile=${files}`, process.execPath, resolve('bin/run.js'), ...args, ...more]);
    let text = '';
    child.stdout.on('data', (piece) => {
      text += String(piece);
    });
    child.stderr.on('data', (piece) => {
      text += String(piece);
    });
    return new Promise((done) => child.on('close', (status) => done({ status, text })));
  }

  const limits = someOf([64, 48], (files) => files === 48);
  test.each(limits)('%d of them: sync, extract, verify --repair, import and publish end as ever', async (files) => {
    const store = ['--store', scratch(`store${files}`)];
    expect(await limited(files, ['sync', 'wow', '--all', ...store])).toEqual({ status: 0, text: expect.any(String) });
    const out = scratch(`few${files}`);
    expect(await limited(files, ['extract', 'wow', '--to', out, ...store])).toMatchObject({ status: whole.status });
    expect(fs.readdirSync(out, { recursive: true }).sort()).toEqual(many);
    expect(await limited(files, ['verify', '--repair', '--jobs', '8', ...store])).toMatchObject({ status: 0 });
    const mirror = join(synced.cdn.root, 'www');
    const imported = ['import', mirror, '--store', scratch(`imported${files}`), '--offline'];
    expect(await limited(files, imported, [])).toMatchObject({ status: 0 });
    const folder = `cdn:${join(mirror, 'tpr/wow')}`;
    expect(await limited(files, ['verify', folder, '--jobs', '8'], [])).toMatchObject({ status: 0 });
    expect(
      await limited(files, ['publish', out, '--product', 'few', '--to', scratch(`cdn${files}`)], []),
    ).toMatchObject({ status: 0 });
  });
});
