import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parseEspecChoice } from '../../src/publish/encode/espec-choice.ts';
import { publishBuild } from '../../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { noise } from '../support/family.ts';
import { freePort } from '../support/loopback.ts';
import { runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* A store whose disk has spoilt files in their middle: what comes of them is right from one end to the other, or there is an error. */

const scratch = scratchFolder();
const files = Array.from({ length: 12 }, (_, i) => ({
  name: `data/file${i}.bin`,
  fileDataId: i + 1,
  // Of one chunk, and of several hundred.
  bytes: noise(`file ${i}`, i % 3 === 0 ? 40_000 : 3_000_000 + i * 1000),
}));
let port: number;
let server: StaticServer;
let store: string;
let count = 0;

beforeAll(async () => {
  port = await freePort();
  await publishBuild({
    product: 'game',
    version: '1.0',
    buildId: 1,
    out: scratch('cdn'),
    hosts: [`127.0.0.1:${port}`],
    regions: ['us'],
    especs: parseEspecChoice('b:{16K*=n}'),
    files: files.map(({ name, fileDataId, bytes }) => ({ name, fileDataId, read: () => bytes })),
  });
  server = await serveFolder(scratch('cdn'), { port });
  await withPakrat({ store: scratch('whole'), patchUrl: server.url }, async (pakrat) => {
    expect((await pakrat.sync('game')).missing.entries).toBe(0);
  });
});
beforeEach(() => {
  count += 1;
  store = scratch(`store${count}`);
  fs.cpSync(scratch('whole'), store, { recursive: true });
  for (const file of dataFiles()) {
    const bytes = fs.readFileSync(file);
    // The first entries of an archive as well as the last, each in its middle or behind it.
    for (let at = 900_000; at < bytes.length; at += 1_300_000) bytes[at]! ^= 0x55;
    fs.writeFileSync(file, bytes);
  }
});
afterAll(() => server.close());

const dataFiles = (): string[] =>
  ['tpr', 'partial'].flatMap((folder) =>
    fs
      .readdirSync(join(store, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /data\/..\/..\/[0-9a-f]{32}$/.test(name))
      .map((name) => join(store, folder, name)),
  );

describe('what the disk has spoilt of a file', () => {
  test('extract brings anew, and all are right in one run', async () => {
    const flags = ['--store', store, '--patch-url', server.url, '--quiet'];
    // The server is in this process.
    expect((await startPakrat(['extract', 'game', '--to', scratch('out'), ...flags]).ended).status).toBe(0);
    for (const { name, bytes } of files) expect(fs.readFileSync(scratch('out', name)).equals(bytes)).toBe(true);
    expect(runPakrat(['verify', '--store', store, '--offline']).status).toBe(0);
  });

  test('a reader that has begun already goes on with, fetched anew', async () => {
    await withPakrat({ store, patchUrl: server.url, threads: 0 }, async (pakrat) => {
      await using build = await pakrat.open('game');
      for (const { name, bytes } of files) {
        const pieces: Uint8Array[] = [];
        for await (const piece of build.stream(name)) pieces.push(piece);
        expect([name, Buffer.concat(pieces).equals(bytes)]).toEqual([name, true]);
      }
    });
  });

  test('is an error where nobody may be asked, and the run says so', async () => {
    const { status } = runPakrat(['extract', 'game', '--to', scratch('off'), '--store', store, '--offline', '--quiet']);
    expect(status).toBe(3);
    const right = files.filter(({ name }) => fs.existsSync(scratch('off', name)));
    for (const { name, bytes } of right) expect(fs.readFileSync(scratch('off', name)).equals(bytes)).toBe(true);
    expect(right.length).toBeGreaterThan(2);
    expect(right.length).toBeLessThan(files.length - 2);
  });
});
