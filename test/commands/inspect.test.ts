import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inspectBytes } from '../../src/inspect/inspect.ts';
import { openStore, type SmallObject } from '../../src/store/store.ts';
import { runPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { SyntheticCdn } from '../support/served-cdn.ts';
import { syntheticCdn } from '../support/synthetic-cdn.ts';
import { readTruth } from '../support/truth.ts';
import { withPakrat } from '../support/with-pakrat.ts';

const scratch = scratchFolder();

/** Salsa20/20 under a 16-byte key of zeros and a nonce of zeros: its first 32 bytes. */
const salsaZeroStream = '6513adaecfeb124c1cbe6bdaef690b4ffb00b0fcace33ce806792bb414801998';

describe('inspect, on the objects of a CDN', () => {
  let cdn: SyntheticCdn;
  let configs: { build: { b: string }; cdn: { b: string }; keyring: string; product_config: string };
  beforeAll(async () => {
    cdn = await syntheticCdn({
      make: ['--files', '120', '--total-bytes', '400K', '--download-version', '2,3', '--seed', '5'],
    });
    configs = cdn.summary.configs as typeof configs;
  });
  afterAll(() => cdn.close());

  const object = (kind: string, hash: string): string =>
    join(cdn.root, 'www', 'tpr', 'wow', kind, hash.slice(0, 2), hash.slice(2, 4), hash);

  test('every object is told for what it is', () => {
    const found = new Map<string, number>();
    const files = readdirSync(join(cdn.root, 'www', 'tpr'), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const archives = new Set(files.filter(({ name }) => name.endsWith('.index')).map(({ name }) => name.slice(0, -6)));
    for (const { name, parentPath } of files) {
      // Archives hold many objects one after the other, and are none.
      if (archives.has(name)) continue;
      const inspection = inspectBytes(new Uint8Array(readFileSync(join(parentPath, name))));
      const format = inspection.inside?.format ?? inspection.format;
      found.set(format, (found.get(format) ?? 0) + 1);
    }
    for (const format of [
      'build config',
      'CDN config',
      'key ring config',
      'product config',
      'archive index',
      'encoding file',
    ]) {
      expect(found.get(format)).toBeGreaterThan(0);
    }
    for (const format of ['install manifest', 'download manifest', 'size manifest', 'WoW root'])
      expect(found.get(format)).toBe(2);
  });

  test('as text and as JSON', () => {
    const path = object('config', configs.build.b);
    const text = runPakrat(['inspect', path, '--rows', '0-2']);
    expect(text.status).toBe(0);
    expect(text.stdout).toMatch(new RegExp(`^build config, .* MD5 ${configs.build.b}\n`));
    expect(text.stdout).toMatch(/^ {2}name +WOW-60100patch11\.2\.0_Retail$/m);
    const { stdout } = runPakrat(['inspect', path, '--rows', '0-2', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'build config',
      md5: configs.build.b,
      table: { first: 0, rows: [{}, {}, {}] },
    });
  });

  test('an object of the store by its name; of an archive its index', async () => {
    const folder = scratch('store');
    const store = openStore(folder, { create: true });
    const names = readdirSync(join(cdn.root, 'www', 'tpr', 'wow', 'data'), { recursive: true, encoding: 'utf8' });
    const hash = names.find((path) => names.includes(`${path}.index`))!.slice(-32);
    const objectOf = (kind: 'config' | 'data', name: string, suffix: '' | '.index'): SmallObject => ({
      name: { cdnPath: 'tpr/wow', kind, hash: name, suffix },
      bytes: new Uint8Array(readFileSync(object(kind, name + suffix))),
    });
    await store.addObjects([
      objectOf('config', configs.build.b, ''),
      objectOf('data', hash, '.index'),
      objectOf('data', hash, ''),
    ]);
    store.close();
    const { stdout } = runPakrat(['inspect', configs.build.b.toUpperCase(), '--store', folder, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ format: 'build config', md5: configs.build.b });
    await withPakrat({ store: folder }, async (pakrat) => {
      expect(await pakrat.inspect(hash)).toMatchObject({ format: 'archive index', facts: { name: hash } });
      expect(await pakrat.inspect(`${hash}.index`)).toMatchObject({ format: 'archive index' });
      await expect(pakrat.inspect('0'.repeat(32))).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    });
  });
});

describe('inspect, by the keys of a build that was synced', () => {
  test('an entry of an archive by its ekey and by its ckey, a manifest; nothing is fetched', async () => {
    const cdn = await syntheticCdn({ make: ['--files', '60', '--total-bytes', '200K', '--seed', '6'] });
    const folder = scratch('synced');
    const inspect = (what: string) => withPakrat({ store: folder }, (pakrat) => pakrat.inspect(what));
    let rows: ReturnType<typeof readTruth>['rows'];
    try {
      await withPakrat({ store: folder, patchUrl: cdn.url }, (pakrat) => pakrat.sync('wow'));
      rows = readTruth(cdn.root, 'b').rows;
    } finally {
      await cdn.close();
    }
    const inArchive = rows.find(
      (row) => row.lockedBy === undefined && row.archive !== 'loose' && row.encodedSize > 100,
    )!;
    const [ekey = ''] = inArchive.ekeys;
    const { stdout } = runPakrat(['inspect', ekey, '--store', folder, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ format: 'BLTE', nameIs: 'ekey', facts: { ekey } });
    expect(await inspect(inArchive.ckey)).toMatchObject({
      format: 'BLTE',
      nameIs: 'MD5 of what is inside',
      inside: { md5: inArchive.ckey },
    });
    const manifests = readdirSync(join(folder, 'manifests'));
    const formats = await Promise.all(manifests.map(inspect));
    expect(formats.map(({ format }) => format)).toContain('encoding file');
    expect(formats.every(({ nameIs }) => nameIs === 'MD5')).toBe(true);
    await expect(inspect('1'.repeat(32))).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  }, 120_000);

  test('a file that is called by a hash of another is told, and the exit code says so', () => {
    const file = scratch('d41d8cd98f00b204e9800998ecf8427e');
    writeFileSync(file, 'one = 1\n');
    const { status, stdout } = runPakrat(['inspect', file]);
    expect(status).toBe(3);
    expect(stdout).toMatch(/Wrong: it is called d41d8cd98f00b204e9800998ecf8427e/);
  });
});

describe('inspect', () => {
  test('what is not there, a folder, bad rows: each with its exit code', () => {
    expect(runPakrat(['inspect', scratch('none')]).status).toBe(4);
    expect(runPakrat(['inspect', scratch()]).status).toBe(2);
    writeFileSync(scratch('a.txt'), 'one = 1\n');
    expect(runPakrat(['inspect', scratch('a.txt'), '--rows', 'x']).status).toBe(2);
    expect(runPakrat(['inspect', scratch('a.txt')]).status).toBe(0);
  });

  test('an encrypted object whose key is missing is shown, its key named, and the exit code says so; with the key it opens', async () => {
    // Made by hand: one chunk, Salsa20 with the key of zeros that the store is given below.
    const text = 'Region!STRING:0\nus\n';
    const keyStream = Buffer.from(salsaZeroStream, 'hex');
    const inner = Buffer.from(`N${text}`).map((byte, i) => byte ^ keyStream[i]!);
    const chunk = Buffer.concat([
      Buffer.from('E\x08', 'latin1'),
      Buffer.from('0123456789abcdef', 'hex'),
      Buffer.from([4, 0, 0, 0, 0]),
      Buffer.from('S'),
      inner,
    ]);
    const head = Buffer.alloc(36);
    head.write('BLTE');
    head.writeUInt32BE(36, 4);
    head.writeUInt32BE(0x0f000001, 8);
    head.writeUInt32BE(chunk.length, 12);
    head.writeUInt32BE(text.length, 16);
    createHash('md5').update(chunk).digest().copy(head, 20);
    writeFileSync(scratch('locked'), Buffer.concat([head, chunk]));
    const locked = runPakrat(['inspect', scratch('locked'), '--store', scratch('keys'), '--json']);
    expect(locked.status).toBe(7);
    expect(JSON.parse(locked.stdout)).toMatchObject({
      facts: { keyNames: ['efcdab8967452301'] },
      problem: { code: 'E_KEY_MISSING' },
    });
    writeFileSync(scratch('key.txt'), `EFCDAB8967452301 ${'00'.repeat(16)}\n`);
    await withPakrat({ store: scratch('keys') }, (pakrat) => pakrat.keys.import([scratch('key.txt')]));
    const opened = runPakrat(['inspect', scratch('locked'), '--store', scratch('keys')]);
    expect(opened).toMatchObject({ status: 0, stdout: expect.stringContaining('inside: BPSV table') });
  });
});
