import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { isPakratError, openPakrat, type Pakrat } from '../../src/index.ts';
import type { PakratSource } from '../../src/pakrat-source.ts';
import { builtModule } from '../support/built-module.ts';
import { randomSource } from '../support/hostile.ts';
import { type LyingServer, lyingServer, objectsBelow } from '../support/lying-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type SyncedStore, syncedStore } from '../support/synced-store.ts';
import { readTruth } from '../support/truth.ts';

/* The library, whose user ends and closes things while others go on. */

// A host that says nothing is given up after more than a minute: whoever waits for that fails here.
jest.setTimeout(45_000);
const scratch = scratchFolder();
const workerUrl = new URL(builtModule('src/fetch/transfer/transfer-worker.ts'));
/** How often a session is closed at a random moment: a few times, or as often as a soak wants. */
const rounds = Number(process.env.PAKRAT_MOMENTS ?? 4);
let synced: SyncedStore;
let host: LyingServer;
let files: { name: string; content: () => Uint8Array }[];

beforeAll(async () => {
  synced = await syncedStore(scratch('synced'), ['--files', '60', '--total-bytes', '400K', '--archives', '2']);
  host = await lyingServer(objectsBelow(`${synced.cdn.root}/www`));
  const { rows } = readTruth(synced.cdn.root, 'b');
  files = rows
    .filter(({ lockedBy, locale }) => lockedBy === undefined && locale === '-')
    .map(({ fileDataId, content }) => ({ name: `fdid:${fileDataId}`, content }));
});
afterAll(async () => {
  await host?.close();
  await synced?.cdn.close();
});

describe.each(['what is needed to find a file', 'its content'])('a host gives no byte of %s', (what) => {
  const interrupted = { code: 'E_ABORTED' };
  let pakrat: Pakrat;
  let source: PakratSource;

  beforeEach(async () => {
    host.lie = () => undefined;
    const store = scratch(`${expect.getState().currentTestName}`.replaceAll(/\W+/g, '-'));
    pakrat = await openPakrat({ store, threads: 0, patchUrl: synced.cdn.url, cdnHost: host.host });
    source = await pakrat.open('wow');
    if (what === 'its content') await source.find(files[0]!.name);
    host.lie = ({ path }) => (path.includes('/data/') ? { kind: 'stall', after: 0 } : undefined);
    host.asked.length = 0;
  });

  /** Waits until the host was asked for what is read. */
  async function asked(): Promise<void> {
    while (host.asked.length === 0) await sleep(5);
  }

  test('a signal ends it', async () => {
    const stop = new AbortController();
    const whole = source.bytes(files[0]!.name, { signal: stop.signal });
    const part = source.bytes(files[0]!.name, { offset: 1, size: 10, signal: stop.signal });
    await expect(source.bytes(files[0]!.name, { signal: AbortSignal.abort() })).rejects.toMatchObject(interrupted);
    void asked().then(() => stop.abort());
    await expect(whole).rejects.toMatchObject(interrupted);
    await expect(part).rejects.toMatchObject(interrupted);
    await pakrat.close();
  });

  test('a stream that is given up ends it', async () => {
    const reader = source.stream(files[0]!.name).getReader();
    const reading = reader.read();
    await asked();
    await reader.cancel();
    expect(await reading).toEqual({ done: true, value: undefined });
    await pakrat.close();
  });

  test.each(['source', 'session'] as const)('closing the %s ends it', async (closed) => {
    const reading = source.bytes(files[0]!.name).catch((error: unknown) => error);
    await asked();
    await (closed === 'source' ? source : pakrat).close();
    expect(await reading).toMatchObject({ ...interrupted, message: 'the source is being closed' });
    await pakrat.close();
  });

  test('closing the session ends what is just begun', async () => {
    const sync = pakrat.sync('wow').catch((error: unknown) => error);
    await pakrat.close();
    expect(await sync).toMatchObject({ ...interrupted, message: 'the session is being closed' });
  });
});

test('nothing begins after the end, and to close again does nothing', async () => {
  const pakrat = await openPakrat({ store: synced.copyTo(scratch('ended')).root, offline: true, threads: 0 });
  const [first, second] = [await pakrat.open('wow'), await pakrat.open('wow')];
  const list = first.list();
  await list.next();
  await first.close();
  await expect(list.next()).rejects.toMatchObject({ code: 'E_ABORTED', message: 'the source is being closed' });
  const sourceClosed = { code: 'E_USAGE', message: 'the source is closed' };
  await expect(first.list().next()).rejects.toMatchObject(sourceClosed);
  for (const { name } of files.slice(0, 1)) {
    await expect(first.bytes(name)).rejects.toMatchObject(sourceClosed);
    await expect(first.find(name)).rejects.toMatchObject(sourceClosed);
    await expect(first.stream(name).getReader().read()).rejects.toMatchObject(sourceClosed);
  }
  await expect(first.info()).rejects.toMatchObject(sourceClosed);
  await Promise.all([pakrat.close(), pakrat.close()]);
  await expect(second.info()).rejects.toMatchObject(sourceClosed);
  const sessionClosed = { code: 'E_USAGE', message: 'the session is closed' };
  for (const late of [pakrat.status(), pakrat.open('wow'), pakrat.verify(), pakrat.keys.list()])
    await expect(late).rejects.toMatchObject(sessionClosed);
  await first.close();
  await pakrat.close();
});

test(
  'a session that is closed at any moment ends everything with an error of its own, and leaves a store that is right',
  async () => {
    host.lie = () => undefined;
    const random = randomSource(9);
    const below = (size: number): number => Math.floor(random() * size);
    for (let round = 0; round < rounds; round++) {
      const store = round % 2 === 0 ? scratch(`store ${round}`) : synced.copyTo(scratch(`store ${round}`)).root;
      const options = { store, threads: below(3), patchUrl: synced.cdn.url, workerUrl };
      const pakrat = await openPakrat(options);
      const work = [
        () => pakrat.sync(['wow', 'wow_old'], { all: true }),
        () => pakrat.repair(),
        () => pakrat.gc({ keep: 1 }),
        () => pakrat.forget(['wow_old@60000']),
        () => pakrat.extract('wow', { to: scratch(`out ${round}`) }),
        () => pakrat.import(`${synced.cdn.root}/www`, { product: 'wow' }),
        () => pakrat.diff('wow_old', 'wow'),
        () => pakrat.keys.missing('wow'),
        () => pakrat.versions('wow'),
        async () => {
          const source = await pakrat.open('wow');
          for (const { name } of files) await source.bytes(name);
        },
      ];
      const going = Array.from({ length: 5 }, () =>
        work[below(work.length)]!().catch((error: unknown) => {
          if (!isPakratError(error)) throw error;
        }),
      );
      await sleep(below(400));
      await pakrat.close();
      await Promise.all(going);

      const after = await openPakrat({ ...options, threads: 0 });
      await after.keys.import([`${synced.cdn.root}/truth/keys.txt`]);
      await after.sync(['wow', 'wow_old'], { all: true });
      const { bad, unchecked } = await after.verify();
      expect({ bad, unchecked }).toEqual({ bad: [], unchecked: undefined });
      const source = await after.open('wow');
      for (const { name, content } of files) expect(Buffer.compare(await source.bytes(name), content())).toBe(0);
      await after.close();
    }
  },
  60_000 + rounds * 10_000,
);
