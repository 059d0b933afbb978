import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { publishFamily } from '../support/family.ts';
import { gcRounds, roundFiles } from '../support/gc-rounds.ts';
import { freePort } from '../support/loopback.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* Many processes at once. PAKRAT_ROUNDS says how often, PAKRAT_SEED with which random numbers. */

const rounds = Number(process.env.PAKRAT_ROUNDS ?? 2);
const seed = Number(process.env.PAKRAT_SEED ?? 1);
// The machine may be busy.
jest.setTimeout(120_000 + 60_000 * rounds);
const scratch = scratchFolder();
const versions = [0, 1, 2, 3];
let server: StaticServer;

beforeAll(async () => {
  const port = await freePort();
  const out = scratch('cdn');
  for (const version of versions) {
    await publishFamily(version, { out, port, files: roundFiles(version) });
    if (version === 0) server = await serveFolder(out, { port, bytesPerSecond: 6_000_000 });
    // Each was seen when it was live.
    await withPakrat({ store: scratch('store'), patchUrl: server.url }, (pakrat) => pakrat.versions('game'));
  }
});
afterAll(() => server?.close());

test('gc beside a sync and five readers, one of them killed: nothing kept is lost, nothing wrong is read or held', async () => {
  const place = { store: scratch('store'), www: scratch('cdn'), url: server.url, versions, scratch: scratch() };
  const { wrong, kills, readWhole } = await gcRounds({ ...place, rounds, seed });
  expect(wrong).toEqual([]);
  expect(readWhole).toBeGreaterThan(2);
  expect(kills).toBeGreaterThan(Math.floor(rounds / 10));
});
