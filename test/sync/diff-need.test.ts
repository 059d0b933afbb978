import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fetchNeed } from '../../src/sync/diff-need.ts';
import type { LyingServer } from '../support/lying-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type GeneratedCdn, generateCdn, hostOf, openGenerated } from './generated-build.ts';

const scratch = scratchFolder();
let cdn: GeneratedCdn;
let server: LyingServer;

beforeAll(async () => {
  cdn = generateCdn();
  server = await hostOf(cdn);
});
afterAll(() => server.close());

test('what a second build needs is counted once, also where its archive group turns out damaged on the way', async () => {
  const root = scratch('store');
  const before = await openGenerated({ root, cdn, build: 'a', servers: [server] });
  const after = await openGenerated({ root, cdn, build: 'b', servers: [server] });
  try {
    const need = await fetchNeed(before.build, after, []);
    expect(need.fetch.entries).toBeGreaterThan(0);
    expect(need.fetch.entries).toBeLessThan(need.missing.entries);
    for (const name of fs.readdirSync(join(root, 'groups'))) {
      const file = join(root, 'groups', name);
      const bytes = fs.readFileSync(file);
      // A record of the first page.
      bytes[100]! ^= 0xff;
      // The same file, which is open.
      fs.writeFileSync(file, bytes, { flag: 'r+' });
    }
    expect(await fetchNeed(before.build, after, [])).toEqual(need);
  } finally {
    await before.close();
    await after.close();
  }
});
