import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
import { openPakrat, type Pakrat } from '../../src/pakrat.ts';
import { type PublishedBuild, type PublishFile, publishBuild } from '../../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { readPublished } from '../publish/published.ts';
import { randomSource } from '../support/hostile.ts';
import { type Run, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';

/* What publishBuild makes, served by serveFolder, through the program as a person uses it. */

const scratch = scratchFolder();
const random = randomSource(9);
const noise = (size: number): Uint8Array => Uint8Array.from({ length: size }, () => Math.floor(random() * 256));
const platforms = ['Windows', 'OSX'] as const;

const contents = new Map<string, Uint8Array>();
function file(path: string, size: number, more: Partial<PublishFile> = {}): PublishFile {
  contents.set(`${more.locale ?? ''} ${path}`, noise(size));
  return { name: path, ...more, read: () => contents.get(`${more.locale ?? ''} ${path}`)! };
}
const files: PublishFile[] = [
  ...Array.from({ length: 40 }, (_, i) => file(`art/${i}.tex`, 1000 + 700 * i, { priority: i % 3 })),
  ...(['enUS', 'deDE'] as const).map((locale) => file('Texts/Story.txt', 3000, { locale })),
  ...platforms.map((name) => file(`bin/${name}/game`, 20_000, { install: true, tags: [{ name, type: 1 }] })),
  file('film.bin', 300_000),
];

let built: PublishedBuild;
let server: StaticServer;
const store = scratch('store');
const pakrat = (...args: string[]): Promise<Run> =>
  startPakrat([...args, '--store', store, '--patch-url', server.url]).ended;
const json = async (...args: string[]): Promise<Record<string, unknown>> => {
  const { status, stdout, stderr } = await pakrat(...args, '--json', '--quiet');
  if (status !== 0) throw new Error(`${args.join(' ')}: exit ${status} ${stdout} ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
};
/** Does work with a session of this process. */
async function here<Result>(work: (session: Pakrat) => Promise<Result>, { offline = false } = {}): Promise<Result> {
  const session = await openPakrat({ store, patchUrl: server.url, offline, threads: 0 });
  return work(session).finally(() => session.close());
}

beforeAll(async () => {
  server = await serveFolder(scratch());
  const hosts = [new URL(server.url).host];
  built = await publishBuild({
    files,
    root: 'wow',
    product: 'mygame',
    version: '3.1',
    buildId: 7,
    out: scratch(),
    hosts,
    archiveBytes: 200_000,
  });
});
afterAll(() => server.close());

describe('a published build', () => {
  test('is synced by its tags: what the other platform and language need stays away', async () => {
    const report = await json('sync', 'mygame', '--tags', 'Windows,enUS');
    const mac = 20_000 + 37;
    const german = 3000 + 37;
    const left = (report.wanted as { bytes: number }).bytes;
    // Download and size manifest and encoding itself are wanted always.
    expect(built.objectBytes - left).toBe(mac + german);
    expect(report).toMatchObject({ build: { name: '3.1', buildConfig: built.buildConfig }, missing: { entries: 0 } });
  });

  test('then the rest of it, and no more than the rest', async () => {
    const before = server.stats.bytes;
    const report = await here((session) => session.sync('mygame'));
    expect(report).toMatchObject({
      wanted: { entries: built.objects, bytes: built.objectBytes },
      missing: { entries: 0, bytes: 0 },
      fetched: { entries: 2 },
    });
    // What lies between the two, in one archive, comes along: ranges are joined over gaps of 64 KiB.
    expect(server.stats.bytes - before).toBeLessThan(23_000 + 65_536);
  });

  test('gives every file back by name, in the language asked for', async () => {
    for (const locale of ['enUS', 'deDE']) {
      const to = scratch(`out-${locale}`);
      const names = [
        'art/0.tex',
        'ART\\39.TEX',
        'texts/story.txt',
        'film.bin',
        ...platforms.map((p) => `bin/${p}/game`),
      ];
      const report = await here((session) => session.extract('mygame', { names, to, locale }), { offline: true });
      expect(report).toMatchObject({ files: 6, failed: [] });
      const extracted = readdirSync(to, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const md5s = extracted.map(({ parentPath, name }) => md5Hex(readFileSync(join(parentPath, name)))).sort();
      const originals = [' art/0.tex', ' art/39.tex', `${locale} Texts/Story.txt`, ' film.bin'];
      const expected = [...originals, ...platforms.map((p) => ` bin/${p}/game`)].map((name) =>
        md5Hex(contents.get(name)!),
      );
      expect(md5s).toEqual(expected.sort());
    }
  });

  test('gives a file by id, content key and encoding key', async () => {
    const cdn = readPublished(scratch(), 'mygame');
    const film = contents.get(' film.bin')!;
    const ckey = md5Hex(film);
    const id = built.names.find(({ name }) => name === 'film.bin')!.fileDataId;
    const to = scratch('by-keys');
    const names = [`fdid:${id}`, `ckey:${ckey}`, `ekey:${cdn.byCkey(ckey).ekeys[0]}`];
    await json('extract', 'mygame', ...names, '--to', to, '--offline');
    const extracted = readdirSync(to);
    expect(extracted).toHaveLength(names.length);
    for (const name of extracted) expect(md5Hex(readFileSync(join(to, name)))).toBe(ckey);
  });

  test('is kept whole by --all, archives, indices and configs as they are', async () => {
    await here((session) => session.sync('mygame', { all: true }));
    const cdn = readPublished(scratch(), 'mygame');
    const kept = readPublishedFiles(cdn);
    expect(kept.length).toBeGreaterThan(10);
    for (const path of kept) {
      const inStore = path.replace(scratch(), store);
      expect(md5Hex(readFileSync(inStore))).toBe(md5Hex(readFileSync(path)));
    }
  });

  test('is known to every region and under the other form of the URL', async () => {
    for (const region of ['eu', 'cn']) {
      const { status, stderr, stdout } = await pakrat('versions', 'mygame', '--region', region);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^VersionsName +3\.1$/m);
    }
    const other = await openPakrat({ patchUrl: `${server.url}/v2/products`, store, threads: 0 });
    const { rows } = await other.cdns('mygame').finally(() => other.close());
    expect(rows[0]).toMatchObject({ Path: 'tpr/mygame' });
  });

  test('a damaged archive on the host is noticed', async () => {
    const cdn = readPublished(scratch(), 'mygame');
    const damaged = scratch('damaged');
    const hosts = [new URL(server.url).host];
    await publishBuild({
      files: files.slice(0, 9),
      root: 'wow',
      product: 'spoiled',
      version: '3.1',
      buildId: 7,
      out: scratch(),
      cdnPath: 'tpr/spoiled',
      hosts,
    });
    const spoiled = readPublished(scratch(), 'spoiled');
    const archive = spoiled.file('data', spoiled.cdn.archives[0]!);
    const bytes = readFileSync(archive);
    bytes[bytes.length >> 1]! ^= 0x55;
    writeFileSync(archive, bytes);
    const { status } = await startPakrat(['sync', 'spoiled', '--store', damaged, '--patch-url', server.url]).ended;
    expect(status).toBe(9);
    expect(cdn.cdn.archives.length).toBeGreaterThan(1);
  });
});

function readPublishedFiles(cdn: ReturnType<typeof readPublished>): string[] {
  const { archives, fileIndex } = cdn.cdn;
  const indices = [...archives, fileIndex!].map((hash) => `${cdn.file('data', hash)}.index`);
  const loose = [...cdn.fileIndex].map(({ ekey }) => cdn.file('data', Buffer.from(ekey).toString('hex')));
  const configs = [built.buildConfig, built.cdnConfig].map((hash) => cdn.file('config', hash));
  return [...archives.map((hash) => cdn.file('data', hash)), ...indices, ...loose, ...configs];
}
