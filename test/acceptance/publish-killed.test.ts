import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { md5Hex } from '../../src/core/hash.ts';
import { decodeChannelCatalogue, decodeChannelSummary } from '../../src/formats/services/channels.ts';
import { openPublished } from '../publish/open-published.ts';
import { treeOf } from '../publish/published.ts';
import { randomSource } from '../support/hostile.ts';
import { runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* A publish is killed at random moments: readers have the old build or the new one, whole. PAKRAT_MOMENTS says how often. */

const moments = Number(process.env.PAKRAT_MOMENTS ?? 3);
jest.setTimeout(60_000 + 20_000 * moments);
const scratch = scratchFolder();
const random = randomSource(77);
const [game, cdn] = [scratch('game'), scratch('cdn')];
const command = ['publish', game, '--product', 'mygame', '--to', cdn, '--quiet'];

/** Changes a part of the folder. @returns what is in it then */
function change(turn: number): Record<string, string> {
  for (let i = 0; i < 60; i++) {
    if (turn > 0 && i % 5 !== turn % 5) continue;
    const path = join(game, `data/${i % 7}/${i}.bin`);
    mkdirSync(dirname(path), { recursive: true });
    const words = Array.from({ length: 6000 }, () => Math.floor(random() * 5000).toString(36));
    writeFileSync(path, `${turn} ${words.join(' ')}`);
  }
  return treeOf(game);
}

/** The build configs that the forms of the tables name. */
function named(): string[] {
  const summary = decodeChannelSummary(readFileSync(join(cdn, 'summary')));
  const object = (hash: string): Uint8Array =>
    readFileSync(join(cdn, 'v2/channels', hash.slice(0, 2), hash.slice(2, 4), hash));
  const { json } = decodeChannelCatalogue(object(summary.catalogue)) as unknown as {
    json: { products: { builds: { definition: string }[] }[] };
  };
  const definition = JSON.parse(Buffer.from(object(json.products[0]?.builds[0]?.definition ?? '')).toString()) as {
    buildKey: string;
  };
  const tables = ['mygame', 'v2/products/mygame'].map((folder) => openPublished(cdn, 'mygame', folder));
  return [...tables.map(({ versions }) => versions.rows[0]?.BuildConfig ?? ''), definition.buildKey];
}

test('a publish that is killed leaves the old build or the new one, and the next goes on', async () => {
  let old = change(0);
  expect(runPakrat(command)).toMatchObject({ status: 0, stderr: '' });
  // Threads encode as one does alone.
  await withPakrat({}, (pakrat) => pakrat.publish(game, { product: 'mygame', to: scratch('cdn-2') }));
  expect(treeOf(cdn)).toEqual(treeOf(scratch('cdn-2')));
  const started = performance.now();
  expect(runPakrat(command)).toMatchObject({ status: 0, stderr: '' });
  const least = performance.now() - started;
  let killed = 0;
  let least2 = least * 3;
  for (let turn = 1; turn <= moments; turn++) {
    const made = change(turn);
    const { child, ended } = startPakrat(command);
    await Promise.race([ended, sleep(least * 0.4 + random() * least2)]);
    if (child.exitCode === null) killed += 1;
    else least2 *= 0.7;
    child.kill('SIGKILL');
    await ended;

    // Every form of the tables is whole, and names a build that is.
    for (const tables of ['mygame', 'v2/products/mygame'])
      expect([old, made]).toContainEqual(openPublished(cdn, 'mygame', tables).files());
    const published = openPublished(cdn, 'mygame');
    for (const config of named()) expect(md5Hex(readFileSync(published.path('config', config)))).toBe(config);
    // What lies there of the one that was killed does no harm.
    expect(runPakrat(['verify', join(cdn, 'tpr/mygame'), '--quiet'])).toMatchObject({ status: 0, stderr: '' });

    expect(await startPakrat(command).ended).toMatchObject({ status: 0, stderr: '' });
    expect(openPublished(cdn, 'mygame').files()).toEqual(made);
    expect(new Set(named()).size).toBe(1);
    expect(readdirSync(cdn).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    old = made;
  }
  expect(killed).toBeGreaterThan(moments / 4);
  // Every build that was live is there still.
  const { cdn: config, path } = openPublished(cdn, 'mygame');
  expect(config.builds.length).toBeGreaterThan(moments);
  for (const build of config.builds) expect(md5Hex(readFileSync(path('config', build)))).toBe(build);
});

test('Ctrl-C ends it within two seconds, with nothing half-done', async () => {
  const [folder, out] = [scratch('noise'), scratch('stopped')];
  mkdirSync(folder);
  for (let i = 0; i < 6; i++) writeFileSync(join(folder, `${i}.bin`), randomBytes(8 << 20));
  const { child, ended } = startPakrat(['publish', folder, '--product', 'mygame', '--to', out]);
  while (!existsSync(out) || readdirSync(out).every((name) => !name.endsWith('.tmp'))) await sleep(20);
  const asked = performance.now();
  child.kill('SIGINT');
  const { status, stderr } = await ended;
  expect({ status, stderr }).toMatchObject({ status: 130, stderr: expect.stringMatching(/interrupted/) });
  expect(performance.now() - asked).toBeLessThan(2000);
  expect(readdirSync(out)).toEqual(['.publish.lock']);
});
