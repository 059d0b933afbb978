import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { Session } from '../../src/app/session/session.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { type Server, startServer } from '../../src/serve/server.ts';
import { makeEncryptedTree, writeTreeKey } from '../support/armadillo-tree.ts';
import { checkHeldBytes } from '../support/held-bytes.ts';
import { freePort } from '../support/loopback.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { ServedTree } from '../support/served-cdn.ts';
import { makeTree, serveTree } from '../support/synthetic-cdn.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/* Trees of the generator beside the conformance files, through a server that has nothing and fetches all. */

jest.setTimeout(120_000);
const scratch = scratchFolder();
const options = '--files 80 --total-bytes 900K --archives 2 --patches 5 --loose 0.2 --install-files 6'.split(' ');
const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** A tree on its port, and a server over an empty store that fetches from there. */
async function pullThrough(
  name: string,
  make: (root: string, port: number) => Promise<unknown> | unknown,
  keyFile?: string,
): Promise<{ root: string; upstream: ServedTree; server: Server }> {
  const root = scratch(name);
  const port = await freePort();
  await make(root, port);
  const upstream = await serveTree(root, [], port);
  closing.push(upstream.close);
  const store = scratch(`${name}-between`);
  if (keyFile !== undefined) await withPakrat({ store }, (pakrat) => pakrat.keys.import([keyFile]));
  const session = new Session({ store, patchUrl: upstream.url });
  closing.push(() => session.close());
  const server = await startServer(session, { port: 0, pullThrough: true });
  closing.push(server.close);
  return { root, upstream, server };
}

describe('a second store that syncs all of two builds, with their patches, has the bytes of the CDN', () => {
  test.each<[string, boolean]>([
    ['as they are', false],
    ['of a product whose objects are encrypted', true],
  ])('%s', async (what, isEncrypted) => {
    const name = isEncrypted ? 'encrypted' : 'plain';
    mkdirSync(scratch(`${name}-keys`));
    const keyFile = isEncrypted ? join(scratch(`${name}-keys`), 'TestKey.ak') : undefined;
    if (keyFile !== undefined) writeTreeKey(keyFile);
    const make = isEncrypted
      ? (root: string, port: number) => makeEncryptedTree(root, port, options)
      : (root: string, port: number) => makeTree(root, port, options);
    const { root, server, upstream } = await pullThrough(name, make, keyFile);
    const store = scratch(`${name}-second`);
    await withPakrat({ store, patchUrl: server.url }, async (pakrat) => {
      if (keyFile !== undefined) await pakrat.keys.import([keyFile]);
      for (const product of ['wow_old', 'wow']) {
        const { missing } = await pakrat.sync(product, { all: true });
        expect([what, product, missing.entries]).toEqual([what, product, 0]);
      }
      expect((await pakrat.verify()).bad).toEqual([]);
    });
    const held = checkHeldBytes(store, join(root, 'www'));
    expect(held.wrong).toEqual([]);
    expect(upstream.requests().some(({ path }) => path.includes('/patch/'))).toBe(true);
  });
});

test('loose objects that no index lists come, too: a second store syncs all that the encoding file names', async () => {
  const { server, upstream } = await pullThrough('unlisted', (root, port) => {
    makeTree(root, port, options);
    forgetLooseObjects(root);
  });
  await withPakrat({ store: scratch('unlisted-second'), patchUrl: server.url }, async (pakrat) => {
    const { missing, wanted } = await pakrat.sync('wow');
    expect([missing.entries, wanted.entries > 80]).toEqual([0, true]);
    expect((await pakrat.verify()).bad).toEqual([]);
  });
  expect(upstream.requests().filter(({ path }) => isLoose(path)).length).toBeGreaterThan(5);
  expect((await fetch(`${server.url}/tpr/wow/data/ab/cd/abcd${'0'.repeat(28)}`)).status).toBe(404);

  function isLoose(path: string): boolean {
    return (
      path.includes('/data/') &&
      !existsSync(join(scratch('unlisted'), 'www', `${path}.index`)) &&
      !path.endsWith('.index')
    );
  }
});

/** Gives the build `wow` of a tree a CDN config without a list of loose objects, as builds of the first years had. */
function forgetLooseObjects(root: string): void {
  const versions = join(root, 'www/wow/versions');
  const table = readFileSync(versions, 'utf8');
  const [hash = ''] = table
    .split('\n')
    .flatMap((line) => line.split('|')[2] ?? [])
    .filter((cell) => /^[0-9a-f]{32}$/.test(cell));
  const file = (name: string): string => join(root, 'www/tpr/wow/config', name.slice(0, 2), name.slice(2, 4), name);
  const config = readFileSync(file(hash), 'latin1').replace(/^file-index.*\n/gm, '');
  const changed = md5Hex(Buffer.from(config, 'latin1'));
  mkdirSync(dirname(file(changed)), { recursive: true });
  writeFileSync(file(changed), config);
  writeFileSync(versions, table.replaceAll(hash, changed));
}
