import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { encodeArmadilloKey, encodeKeyList, encodeListfile } from '../../src/formats/index.ts';
import { openPakrat } from '../../src/pakrat.ts';
import { encodePacklist } from '../../src/paks/nadeo/keys/packlist.ts';
import { type PublishedBuild, type PublishFile, publishBuild } from '../../src/publish/publish-build.ts';
import { serveFolder } from '../../src/serve/static-server.ts';
import { freePort } from '../support/loopback.ts';
import { makeTree } from '../support/own-cdn.ts';
import { quakePak } from '../support/quake-pak.ts';
import { environment, programLine } from '../support/run-pakrat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { withPakrat } from '../support/with-pakrat.ts';

/*
 * Every command that README.md, docs/coming-from.md and the examples of --help show is run as it is written, by a shell, in a folder that has
 * what it names: builds, PAKs, an installed game, lists. Words in capitals stand for keys and the like, and get those of the made builds.
 */

jest.setTimeout(120_000);
const scratch = scratchFolder();

type Server = Awaited<ReturnType<typeof serveFolder>>;

/** Commands that have tests of their own, for they need libfuse, take long, or do not end. */
const notHere = /^pakrat (?:mount|demo|watch|serve)\b/;
/** Commands that take something out of a store: each has one of its own. */
const takesOut = /^pakrat (?:gc|forget)\b/;

const key = { name: '00112233445566aa', key: 'ffeeddccbbaa99887766554433221100' };
const unrealKey = '0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
let server: Server;
let build: PublishedBuild;
let words: Record<string, string>;

/** The files of a build, of which some are other in each version. */
function filesOf(version: string): PublishFile[] {
  const tags = ['Windows', 'x86_64', 'enUS'].map((name, i) => ({ name, type: i + 1 }));
  const file = (name: string, fileDataId: number, more: Partial<PublishFile> = {}): PublishFile => {
    const content = `${name} ${fileDataId % 2 === 0 ? version : ''}`.repeat(3);
    return { name, fileDataId, tags, read: () => Buffer.from(content), ...more };
  };
  return [
    file('interface/icons/inv_misc_bag_08.blp', 133_633),
    file('interface/icons/inv_misc_bag_10.blp', 133_634),
    file('interface/frames/border.blp', 10),
    file('world/maps/azeroth/azeroth.wdt', 775_971),
    file('sound/music/intro.mp3', 1_349_477, { locale: 'deDE' }),
    file('sound/music/intro.mp3', 1_349_477, { locale: 'enUS' }),
    file('secret/end.blp', 12, { key }),
    file('Wow.exe', 14, { install: true, fileDataId: undefined }),
  ];
}

function write(path: string, content: string | Uint8Array): void {
  const file = scratch(path);
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

async function publish(product: string, version: string, port: number): Promise<PublishedBuild> {
  const buildId = Number(version.split('.').at(-1));
  const hosts = [`127.0.0.1:${port}`];
  return publishBuild({ product, version, buildId, hosts, root: 'wow', files: filesOf(version), out: scratch('cdn') });
}

async function makeBuilds(): Promise<void> {
  const port = await freePort();
  await publish('wow_classic_era', '1.15.6.58912', port);
  await publish('wow', '11.2.0.62000', port);
  server = await serveFolder(scratch('cdn'), { port });
  const pakrat = await openPakrat({ store: scratch('store'), patchUrl: server.url, threads: 0 });
  for (const product of ['wow_classic_era', 'wow']) await pakrat.sync(product);
  build = await publish('wow_classic_era', '1.15.7.61582', port);
  await publish('wow', '11.2.0.63000', port);
  await pakrat.sync('wow', { include: ['*.nothing'] }).catch(() => {});
  const source = await pakrat.open('wow_classic_era@1.15.7.61582');
  const { facts } = await source.find('interface/frames/border.blp').then((file) => file ?? { facts: {} });
  await source.close();
  await pakrat.close();
  const names = encodeListfile(build.names);
  for (const name of ['community-listfile.csv', 'cdn/lists/listfile.csv']) write(name, names);
  write('names.txt.gz', gzipSync(names));
  for (const name of ['WoW.txt', 'my-keys.txt', 'cdn/lists/WoW.txt']) write(name, encodeKeyList([key]));
  write('fenrisdev.ak', encodeArmadilloKey(Buffer.alloc(16, 7)));
  words = { ...wordsOf(facts as Record<string, string>), ...filesToInspect() };
}

/** Values for the words in capitals. */
function wordsOf({ ckey = '', ekey = '' }: Record<string, string>): Record<string, string> {
  const { buildConfig: BUILDCONFIG, cdnConfig: CDNCONFIG, version: VERSION } = build;
  return {
    CKEY: ckey,
    '0bf3e9f23de17cf6a1d3ba8dbc5f6ac0': ckey,
    EKEY: ekey,
    BUILDCONFIG,
    CDNCONFIG,
    VERSION,
    CACHE: new URL(server.url).host,
  };
}

/** Objects of the build in the place of those that examples name. */
function filesToInspect(): Record<string, string> {
  const cdn = scratch('cdn/tpr/wow_classic_era');
  const config = fs.readFileSync(objectFile(cdn, 'config', build.buildConfig), 'latin1');
  const keyOf = (name: string): string => new RegExp(`^${name} = \\S+ (\\S+)`, 'm').exec(config)?.[1] ?? '';
  fs.cpSync(objectFile(cdn, 'config', build.buildConfig), scratch('config'));
  fs.cpSync(objectFile(cdn, 'data', keyOf('encoding')), scratch('encoding.blte'));
  const [archive = ''] =
    /^archives = (\S+)/m.exec(fs.readFileSync(objectFile(cdn, 'config', build.cdnConfig), 'latin1'))?.slice(1) ?? [];
  fs.cpSync(`${objectFile(cdn, 'data', archive)}.index`, scratch(`${archive}.index`));
  fs.cpSync(scratch('store'), scratch('games'), { recursive: true });
  return {
    '0017a402f556fbece46c38dc431a2c9b': archive,
    '903cc3552ca1075d5bdc264eab8e2480': archive,
    ENCODING: 'encoding.blte',
    INSTALL: keyOf('install'),
  };
}

function objectFile(cdn: string, kind: string, hash: string): string {
  return join(cdn, kind, hash.slice(0, 2), hash.slice(2, 4), hash);
}

/** Folders, PAKs and lists, made by hand and by the program. */
async function makeFiles(): Promise<void> {
  const maps = [
    { name: 'maps/start.bsp', content: 'start' },
    { name: 'gfx/palette.lmp', content: 'palette' },
    { name: 'maps/e1m1.bsp', content: 'e1m1' },
  ];
  for (const path of ['id1/pak0.pak', 'quake/id1/pak0.pak']) write(path, quakePak(maps));
  write('quake/rogue/pak0.pak', quakePak([{ name: 'maps/start.bsp', content: 'rogue' }]));
  write('unpacked/maps/start.bsp', 'start');
  write('unpacked/gfx/palette.lmp', 'palette');
  write('unpacked/maps/e1m1.bsp', 'e1m1');
  for (const name of ['my.ini', 'my-sun.dds', 'my-e1m1.bsp', 'maps/e1m1.bsp', 'gfx/conback.lmp']) write(name, 'mine');
  for (const folder of ['files', 'content', 'extracted-and-edited']) {
    write(`${folder}/Media/Sun.dds`, `a sun of ${folder}`);
    write(`${folder}/Config/DefaultGame.ini`, '[Default]\n');
    write(`${folder}/Config/Game.ini`, '[Game]\nA=1\n');
    write(`${folder}/Game/Maps/Start.umap`, 'a map');
  }
  write('mod/readme.txt', 'a mod');
  write('wanted.txt', 'interface/icons/inv_misc_bag_08.blp\n1349477;intro.mp3\n');
  write('files.txt', 'interface/icons/inv_misc_bag_08.blp\n');
  write('content.txt', 'content/Config/Game.ini;Config/Game.ini\n');
  write('title.xml', '<header/>');
  write('tags.txt', 'Windows,install  Config/**\n');
  for (const name of ['game.key', 'key.txt']) write(name, unrealKey);
  const list = { version: 1, game: 'trackmania' as const, productCrc: 0, salt: 5, signed: true };
  const entries = ['stadium', 'new'].map((name) => ({ name, flags: 0, keyString: '0123456789ABCDEF0123456789ABCDEF' }));
  for (const name of ['packlist.dat', 'Packs/packlist.dat', 'GameData/Packs/packlist.dat'])
    write(name, encodePacklist({ ...list, entries }));
  const made = [
    'pack unreal Game-WindowsNoEditor.pak content --key @game.key --compress zlib',
    'pack unreal Locked.pak content --key @game.key --encrypt-index',
    'pack unreal Game.pak content --compress zlib',
    'pack unreal Game-1.0.pak content',
    'pack unreal Game-1.1.pak files',
    'pack nadeo Packs/Stadium.pak files --key @packlist.dat',
    'pack nadeo GameData/Packs/Stadium.pak files --key @packlist.dat',
    'pack nadeo Base.pak files --version 6',
  ];
  for (const line of made) expect(await run(`pakrat ${line}`)).toEqual({ line: `pakrat ${line}`, problem: '' });
  fs.cpSync(scratch('cdn'), scratch('mirror'), { recursive: true });
  fs.cpSync(scratch('cdn/tpr/wow_classic_era'), scratch('backup/.ngdp/objects'), { recursive: true });
  const client = ['--files', '400', '--total-bytes', '1M', '--archives', '3', '--layout', 'tvfs', '--withheld', '0'];
  makeTree(scratch('client'), 9, [...client, '--local', '--seed', 'commands']);
  fs.renameSync(scratch('client/local'), scratch('World of Warcraft'));
  await withPakrat({ store: scratch('store'), offline: true }, async (pakrat) => {
    await pakrat.keys.import([scratch('client/truth/keys.txt')]);
    await pakrat.listfile.import(scratch('client/listfile.csv'));
  });
  // The settings of a person who has the lists on a server of their own: nobody else is asked.
  write('settings.json', JSON.stringify({ keys: { url: listUrls.keys() }, listfile: { url: listUrls.names() } }));
}

const listUrls = { keys: () => `${server.url}/lists/WoW.txt`, names: () => `${server.url}/lists/listfile.csv` };

const configUrl = (): string =>
  `${server.url}/tpr/wow_classic_era/config/${objectFile('', '', build.buildConfig).split('/').slice(-3).join('/')}`;

/** A line with what is made here in place of what stands for it. */
function lineHere(line: string): string {
  const here = Object.entries(words).reduce(
    (text, [word, value]) => text.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), value),
    line,
  );
  return here
    .replace(/https:\/\/keys\.example\S*/, listUrls.keys())
    .replace(/https:\/\/names\.example\S*/, listUrls.names())
    .replace(/(?:http|ribbit):\/\/127\.0\.0\.1:\d+/, server.url)
    .replace('https://example.org/tpr/wow/config/0f/2a/HASH', configUrl())
    .replace('/srv/builds', scratch(takesOut.test(line) ? 'less' : 'store'));
}

/** Runs a line. @returns the line, and what was wrong: nothing where it ended with 0 */
async function run(line: string): Promise<{ line: string; problem: string }> {
  const store = takesOut.test(line) ? scratch('less') : scratch('store');
  if (takesOut.test(line)) {
    fs.rmSync(store, { recursive: true, force: true });
    fs.cpSync(scratch('store'), store, { recursive: true });
  }
  const env = { PAKRAT_STORE: store, PAKRAT_PATCH_URL: server.url, PAKRAT_CONFIG: scratch('settings.json') };
  if (!fs.existsSync(env.PAKRAT_CONFIG)) write('settings.json', '{}');
  // What a PAK was made by before is gone.
  const [, out] = /^pakrat pack \w+ (\S+)(?!.*--force)/.exec(line) ?? [];
  if (out !== undefined) fs.rmSync(scratch(out), { force: true });
  const child = spawn('bash', ['-c', `set -o pipefail\n${programLine}\n${lineHere(line)}`], {
    cwd: scratch(),
    env: environment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (piece) => {
    stderr += String(piece);
  });
  const status = await new Promise((done) => child.on('close', done));
  return { line, problem: status === 0 ? '' : `exit ${status}: ${lineHere(line)}\n${stderr}` };
}

/** The commands in the shell blocks and tables of a page. */
function commandsOf(file: string): string[] {
  const text = fs.readFileSync(resolve(file), 'utf8');
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.split('\n'));
  const cells = [...text.matchAll(/\| `(pakrat [^`]*)` \|$/gm)].map(([, line = '']) => line);
  return [...blocks, ...cells]
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line.startsWith('pakrat '));
}

/** The examples of every command, as its help shows them. */
function examples(): string[] {
  const { commands } = JSON.parse(fs.readFileSync(resolve('oclif.manifest.json'), 'utf8')) as {
    commands: Record<string, { examples?: string[] }>;
  };
  return Object.values(commands)
    .flatMap(({ examples: lines = [] }) => lines)
    .map((line) => line.replaceAll('<%= config.bin %>', 'pakrat'));
}

beforeAll(async () => {
  await makeBuilds();
  await makeFiles();
});
afterAll(() => server.close());

const seen = new Set<string>();

describe.each([
  ['README.md', () => commandsOf('README.md'), 12],
  ['docs/coming-from.md', () => commandsOf('docs/coming-from.md'), 60],
  ['the examples of --help', examples, 60],
])('%s', (_, linesOf, atLeast) => {
  const all = [...new Set(linesOf())].filter((line) => !notHere.test(line));
  // Many stand on more than one page.
  const lines = all.filter((line) => !seen.has(line));
  for (const line of lines) seen.add(line);

  test('has commands', () => expect(all.length).toBeGreaterThan(atLeast));

  test.each(lines)('%s', async (line) => {
    expect(await run(line)).toEqual({ line, problem: '' });
  });
});
