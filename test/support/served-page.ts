import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { Session } from '../../src/app/session/session.ts';
import { type PublishFile, publishBuild } from '../../src/publish/publish-build.ts';
import { type Server, startServer } from '../../src/serve/server.ts';
import { serveFolder } from '../../src/serve/static-server.ts';
import { freePort } from './loopback.ts';
import { quakePak } from './quake-pak.ts';
import { withPakrat } from './with-pakrat.ts';

/* A server with something in each of its views: two builds of one product, one of another in part, a PAK and a folder with hostile names. */

/** A server that runs, and the ids of what it shows. */
export interface ServedPage {
  server: Server;
  store: string;
  /** Two builds of `game`, both held whole but for what a key locks. */
  before: string;
  after: string;
  /** A build of `demo`, of which a part is held. */
  part: string;
  /** The PAK, and its names. */
  pak: string;
  pakNames: readonly string[];
  folder: string;
  folderNames: readonly string[];
  close(): Promise<void>;
}

/** Content of `data/table.bin`. */
export const tableBytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7 + (i >> 8)) & 0xff));
/** A picture of 2 × 2 pixels. */
export const pictureBytes = png();
const lock = { name: 'fa505078126acb3e', key: '00112233445566778899aabbccddeeff' };

/** Names that try to be something else: markup, ways out, other directions of text, control characters. */
export const hostileNames = [
  '<img src=x onerror=alert(1)>.txt',
  '"><script>alert(1)</script>',
  "';alert(1);'&amp;%00%2f..%2f",
  '../../../etc/passwd',
  'a\\..\\b.txt',
  'new\nline\tand\u0001control',
  'caf\u00e9 \u00a0 space ?q=1#x&y=2',
  'CON',
] as const;

/** Starts it, with everything below a folder. */
export async function servePage(scratch: (...parts: string[]) => string): Promise<ServedPage> {
  const port = await freePort();
  const out = scratch('cdn');
  const place = { out, hosts: [`127.0.0.1:${port}`], regions: ['us'] };
  await publishBuild({ ...place, product: 'game', version: '1.0.1', buildId: 1, files: gameFiles(1) });
  const cdn = await serveFolder(out, { port });
  const store = scratch('store');
  await withPakrat({ store, patchUrl: cdn.url }, async (pakrat) => {
    await pakrat.sync('game', {});
    await publishBuild({ ...place, product: 'game', version: '1.0.2', buildId: 2, files: gameFiles(2) });
    await publishBuild({ ...place, product: 'demo', version: '0.9', buildId: 9, files: demoFiles() });
  });
  await withPakrat({ store, patchUrl: cdn.url }, async (pakrat) => {
    await pakrat.sync('game', {});
    await pakrat.sync('demo', { include: ['level1/**'] });
  });
  await cdn.close();
  const pakNames = [...hostileNames, 'maps/start.bsp', 'maps/e1m1.bsp', 'twice.txt', 'twice.txt'];
  const pakPath = scratch('hostile.pak');
  writeFileSync(pakPath, quakePak(pakNames.map((name, i) => ({ name, content: `content of ${i}\n` }))));
  const { path, names: folderNames } = hostileFolder(scratch('loose'));
  const session = new Session({ store, offline: true });
  const server = await startServer(session, { port: 0, sources: [pakPath, path] });
  const ids = await withPakrat({ store, offline: true }, async (pakrat) => {
    const { builds } = await pakrat.status();
    return Object.fromEntries(
      builds.map(({ product, name, buildConfig }) => [`${product} ${name}`, `${product}@${buildConfig}`]),
    );
  });
  const close = async (): Promise<void> => {
    await server.close();
    await session.close();
  };
  const [before = '', after = '', part = ''] = [ids['game 1.0.1'], ids['game 1.0.2'], ids['demo 0.9']];
  return { server, store, before, after, part, pak: 'source:1', pakNames, folder: 'source:2', folderNames, close };
}

function gameFiles(version: 1 | 2): PublishFile[] {
  const files: [name: string, content: Buffer | string][] = [
    ['readme.txt', `Lantern, version ${version}\n\nA small game of light & dark.\n<b>Not bold</b>\n`],
    ['textures/title.png', pictureBytes],
    ['textures/stone/wall.blp', Buffer.concat([Buffer.from('BLP2\x01\0\0\0'), tableBytes])],
    ['data/table.bin', tableBytes],
    ...Array.from({ length: 40 }, (_, i): [string, string] => [
      `maps/level${String(i).padStart(2, '0')}.map`,
      `level ${i} of ${i % 7 === 0 ? version : 1}\n`.repeat(200 + i),
    ]),
    ['empty.dat', ''],
    version === 1 ? ['old/gone.txt', 'gone\n'] : ['new/come.txt', 'come\n'],
    ['sounds/wind.ogg', tableBytes.subarray(100, 3000)],
  ];
  return files.map(([name, content], i) => ({
    name,
    fileDataId: i + 1,
    read: () => Buffer.from(content),
    ...(name.startsWith('sounds/') && { key: lock }),
  }));
}

function demoFiles(): PublishFile[] {
  return Array.from({ length: 60 }, (_, i) => ({
    name: `level${i % 3}/part${i}.dat`,
    fileDataId: i + 1,
    read: () => Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * (i + 3) * 2654435761) >>> 24)),
  }));
}

function hostileFolder(path: string): { path: string; names: string[] } {
  const names = [
    'plain.txt',
    'right\u202eto left.txt',
    '<b>bold</b>/in "quotes".txt',
    'emoji \u{1f56f}.txt',
    `${'long'.repeat(60)}.txt`,
    'a+b=c & d%20e.txt',
    '--flag',
    // Longer than a URL has room for.
    `${'長'.repeat(80)}/${'い'.repeat(80)}/${'名'.repeat(80)}.txt`,
  ];
  for (const name of names) {
    const file = join(path, name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, `this is ${name}`);
  }
  return { path, names };
}

function png(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const bytes = Buffer.alloc(8 + body.length);
    bytes.writeUInt32BE(data.length);
    body.copy(bytes, 4);
    bytes.writeInt32BE(crc(body), 4 + body.length);
    return bytes;
  };
  const head = Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
  const rows = Buffer.from([0, 200, 120, 40, 30, 60, 90, 0, 40, 90, 60, 240, 230, 200]);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function crc(bytes: Buffer): number {
  let value = -1;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return ~value;
}
