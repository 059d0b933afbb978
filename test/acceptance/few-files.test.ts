import { spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { scratchFolder } from '../support/scratch.ts';
import { type SyncedStore, syncedStore } from '../support/synced-store.ts';

/* A process that may have few files open works on fewer things at a time. */

const scratch = scratchFolder();
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
if (!hasPrlimit) console.warn('no prlimit here: that few files may be open is not tried');

(hasPrlimit ? describe : describe.skip)('with few files', () => {
  let synced: SyncedStore;
  let whole: { status: number | null };
  beforeAll(async () => {
    const make = ['--files', '300', '--total-bytes', '5M', '--archives', '24', '--loose', '0.1'];
    synced = await syncedStore(scratch('original'), make);
    whole = await limited(4096, ['extract', 'wow', '--to', scratch('many'), '--store', scratch('original')]);
  });
  afterAll(() => synced.cdn.close());

  function limited(files: number, args: readonly string[]): Promise<{ status: number | null; text: string }> {
    const child = spawn('prlimit', [
      `--nofile=${files}`,
      process.execPath,
      resolve('bin/run.js'),
      ...args,
      '--patch-url',
      synced.cdn.url,
    ]);
    let text = '';
    child.stdout.on('data', (piece) => {
      text += String(piece);
    });
    child.stderr.on('data', (piece) => {
      text += String(piece);
    });
    return new Promise((done) => child.on('close', (status) => done({ status, text })));
  }

  test.each([64, 48])('%d of them: sync, extract and verify --repair end as ever', async (files) => {
    const store = ['--store', scratch(`store${files}`)];
    const synced = await limited(files, ['sync', 'wow', '--all', ...store]);
    expect(synced).toEqual({ status: 0, text: expect.any(String) });
    const extract = ['extract', 'wow', '--to', scratch(`few${files}`), ...store];
    expect(await limited(files, extract)).toMatchObject({ status: whole.status });
    expect(await limited(files, ['verify', '--repair', ...store])).toMatchObject({ status: 0 });
  });
});
