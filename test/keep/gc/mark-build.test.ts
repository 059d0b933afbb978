import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { buildOpener } from '../../../src/app/session/build-opener.ts';
import { Session } from '../../../src/app/session/session.ts';
import type { Build } from '../../../src/builds/build.ts';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { encodeTvfs } from '../../../src/formats/roots/tvfs/encode.ts';
import { markBuild } from '../../../src/keep/gc/mark-build.ts';
import { type StaticServer, serveFolder } from '../../../src/serve/static-server.ts';
import { writeDerived } from '../../../src/store/derived/derived-writer.ts';
import { storeLayout } from '../../../src/store/layout.ts';
import { publishFamily } from '../../support/family.ts';
import { freePort } from '../../support/loopback.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { withPakrat } from '../../support/with-pakrat.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
const store = scratch('store');
let server: StaticServer;

afterAll(() => server?.close());

async function withBuild(work: (build: Build) => Promise<void>): Promise<void> {
  const session = new Session({ store, offline: true, threads: 0 });
  try {
    const [row] = (await session.store({ create: false })).ledger.builds('game');
    if (row === undefined) throw new Error('the build is not there');
    const { build, close } = await buildOpener(session, {}).open(row, { offline: true });
    try {
      await work(build);
    } finally {
      await close();
    }
  } finally {
    await session.close();
  }
}

/** Gives an open build other parts than it has. */
function shadow(build: Build, parts: Partial<Record<keyof Build, unknown>>): void {
  for (const [name, value] of Object.entries(parts)) Object.defineProperty(build, name, { value });
}

const noEncoding = {
  layout: { ekeyPageCount: 0, ekeyPageSize: 0 },
  ekeyPages: () => [],
  findCkey: () => undefined,
  findEkey: () => undefined,
};

test('a build names what its TVFS alone has, by the first bytes of its keys, in archives and loose', async () => {
  const port = await freePort();
  await publishFamily(0, { out: scratch('cdn'), port });
  server = await serveFolder(scratch('cdn'), { port });
  await withPakrat({ store, patchUrl: server.url }, (pakrat) => pakrat.sync('game'));
  await withBuild(async (build) => {
    const archived = [...build.encoding.ekeys()].map(({ ekey }) => ekey).filter((ekey) => !build.locate(ekey)?.loose);
    const wanted = [...archived.slice(3, 6), build.config.install?.ekey ?? ''];
    const entries = wanted.map((ekey, i) => {
      const short = fromHex(ekey).subarray(0, 9);
      return { path: `file${i}`, spans: [{ ekey: short, offset: 0, size: 9, encodedSize: 9, contentSize: 9 }] };
    });
    const file = join(scratch(), 'f'.repeat(32));
    writeDerived(file, encodeTvfs({ entries, header: { flags: 0 } }), storeLayout(store).temporary);
    const { isWhole } = await markBuild(build);
    expect(isWhole).toBe(true);
    shadow(build, { manifest: async () => file, download: async () => undefined, encoding: noEncoding });
    const config = { ...build.config, download: undefined, install: undefined, size: undefined };
    shadow(build, { config: { ...config, encoding: { ckey: '0'.repeat(32) }, root: undefined } });
    const { marks } = await markBuild(build);
    const places = archived.slice(3, 6).map((ekey) => build.locate(ekey));
    const named = marks.counts.flatMap((_, i) => marks.spansOf(i).map((span) => ({ ...span, i })));
    for (const place of places) {
      const { offset = 0, size = 0, object } = place ?? {};
      const i = build.cdnConfig.archives.indexOf(object?.hash ?? '');
      expect(named.some((span) => span.i === i && span.start <= offset && span.end >= offset + size)).toBe(true);
    }
    const bytes = places.reduce((sum, place) => sum + (place?.size ?? 0), 0);
    expect(named.reduce((sum, { start, end }) => sum + end - start, 0)).toBe(bytes);
    expect([...marks.loose].map(toHex)).toEqual([build.config.vfsRoot?.ekey, wanted[3]].sort());
  });
});

test('what cannot be read whole is not called so', async () => {
  await withBuild(async (build) => {
    shadow(build, { download: async () => undefined });
    expect(await markBuild(build)).toMatchObject({ isWhole: false });
  });
});
