import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { familyFiles, publishFamily } from '../support/family.ts';
import { wrongBooks } from '../support/gc-rounds.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { freePort } from '../support/loopback.ts';
import { type Run, runPakrat, startPakrat } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { someOf } from '../support/some-of.ts';
import { withPakrat } from '../support/with-pakrat.ts';

// Two processes at a time, some dozens of times.
jest.setTimeout(240_000);
const scratch = scratchFolder();
const www = scratch('cdn');
/** A store with two builds of four, of which the last is live. */
const before = scratch('before');
let server: StaticServer;

beforeAll(async () => {
  const port = await freePort();
  for (const version of [0, 1, 2, 3]) {
    await publishFamily(version, { out: www, port });
    if (version === 0) server = await serveFolder(www, { port, bytesPerSecond: 4_000_000 });
    await withPakrat({ store: before, patchUrl: server.url }, async (pakrat) => {
      if (version < 2) await pakrat.sync('game');
      else await pakrat.versions('game');
    });
  }
});
afterAll(() => server?.close());

/** The arguments of each command, and the folder into which it writes files. */
const commands: Record<string, (store: string, out: string) => string[]> = {
  sync: () => ['sync', 'game@1.2'],
  cat: () => ['cat', 'game', 'data/file3.bin'],
  extract: (_, out) => ['extract', 'game@1.1', '--to', out],
  watch: () => ['watch', 'game', '--once', '--keep', '2'],
  import: () => ['import', www],
  verify: () => ['verify', '--repair'],
  gc: () => ['gc', '--keep', '1'],
  forget: () => ['forget', 'game@1.0'],
};
const names = Object.keys(commands);
/** Commands that let something go. Beside one of them a reader may be told that something is not held, and a build may be gone. */
const letGo = new Set(['gc', 'forget', 'watch']);
const pairs = names.flatMap((one, i) => names.slice(i).map((other) => [one, other] as const));
/** Those of a command that brings much, and of one that takes much away beside whatever reads or repairs. */
const chosen = someOf(
  pairs,
  (pair) => pair.includes('sync') || (pair.includes('gc') && /extract|import|verify/.test(pair[0])),
);

test.each(chosen)('%s beside %s: both end well, nothing wrong is held or written', async (...pair) => {
  const store = scratch('store');
  rmSync(store, { recursive: true, force: true });
  cpSync(before, store, { recursive: true });
  const outs = pair.map((_, i) => scratch(`out${i}`));
  for (const out of outs) rmSync(out, { recursive: true, force: true });
  const runs = await Promise.all(
    pair.map((name, i) => {
      const args = commands[name]?.(store, outs[i] ?? '') ?? [];
      return startPakrat([...args, '--store', store, '--patch-url', server.url, '--quiet']).ended;
    }),
  );
  for (const [i, run] of runs.entries()) expectRightEnd(pair[i] ?? '', pair[1 - i] ?? '', run);
  for (const [i, name] of pair.entries()) {
    if (name === 'extract') expectRightFiles(outs[i] ?? '', runs[i]?.status === 0);
  }
  expect(checkHeldBytes(store, www).wrong).toEqual([]);
  await withPakrat({ store, offline: true }, async (pakrat) => {
    const builds = (await pakrat.status()).builds;
    if (pair.includes('sync') && !pair.some((name) => letGo.has(name))) {
      const { wanted, held } = builds.find(({ name }) => name === '1.2') ?? {};
      expect(held).toEqual(wanted);
    }
    if (pair.includes('forget')) expect(builds.map(({ name }) => name)).not.toContain('1.0');
    const { bad, unchecked } = await pakrat.verify();
    expect([...bad, ...(unchecked ?? [])]).toEqual([]);
    expect(wrongBooks(store)).toEqual([]);
  });
});

test('a build that is forgotten while a repair runs is neither missed nor brought back', async () => {
  const store = scratch('repaired');
  cpSync(before, store, { recursive: true });
  await withPakrat({ store, patchUrl: server.url }, async (pakrat) => {
    let forget: Run | undefined;
    const onProgress = (): void => {
      forget ??= runPakrat(['forget', 'game@1.0', '--store', store]);
    };
    const { bad, unchecked } = await pakrat.verify(undefined, { repair: true, onProgress });
    expect([forget?.status, bad, unchecked]).toEqual([0, [], undefined]);
    const builds = (await pakrat.history('game')).builds.filter(({ wanted }) => wanted !== null);
    expect(builds.map(({ name }) => name)).toEqual(['1.1']);
    expect(await pakrat.gc()).toMatchObject({ objects: 0 });
  });
});

function expectRightEnd(name: string, beside: string, { status, stdout, stderr }: Run): void {
  const isLet = letGo.has(beside);
  // A reader whose build goes is told so; a build that is forgotten twice is not known the second time.
  const others = isLet && ['cat', 'extract', 'sync', 'forget'].includes(name) ? [1, 4, 9] : [];
  const isRight = [0, ...others].includes(status ?? -1);
  expect(isRight ? '' : `${name} ended with ${status}: ${stdout} ${stderr}`).toBe('');
}

function expectRightFiles(out: string, isWhole: boolean): void {
  for (const { name, bytes } of familyFiles(1)) {
    const file = join(out, name);
    if (existsSync(file)) expect(readFileSync(file).equals(bytes)).toBe(true);
    else expect(isWhole).toBe(false);
  }
}
