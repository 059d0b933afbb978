import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { transformSync } from 'esbuild';
import { errorCodes } from '../../src/core/errors.ts';
import { encodeKeyList } from '../../src/formats/configs/key-list.ts';
import { encodeListfile } from '../../src/formats/roots/listfile.ts';
import { publishBuild } from '../../src/publish/publish-build.ts';
import { type StaticServer, serveFolder } from '../../src/serve/static-server.ts';
import { freePort } from '../support/loopback.ts';
import { quakePak } from '../support/quake-pak.ts';
import { scratchFolder } from '../support/scratch.ts';

/* The programs of docs/api.md, as they stand there, one after the other, with the built package: what one leaves the next finds. */

const scratch = scratchFolder();
const page = readFileSync('docs/api.md', 'utf8');
const sections = page.split(/^## /m).slice(1);
const programs = sections.flatMap((section): [string, string][] => {
  const [title = ''] = section.split('\n');
  return [...section.matchAll(/^```js\n(.*?)^```$/gms)].map(([, program = '']) => [title, program]);
});

/** The words that each program must print, in this order. */
const printed: Record<string, string[]> = {
  'A PAK': ['maps/start.bsp 7', '7 bytes, method none'],
  'A build into a store': ['us 1.0', 'to fetch: ', 'complete', '1.0: '],
  'Names and keys': ['new names', '00112233445566aa locks 1 files', '1 new keys, 0 missing'],
  'Reading files': [
    'build sample 1.0',
    'texts/story.txt 17',
    'Once upon a time',
    '500000 bytes of the middle',
    'build config ',
  ],
  Extracting: ['2 files'],
  'Checking and repairing': ['checked, 0 bad', 'PAK: 0 bad'],
  Comparing: ['added maps/end.bsp, 3 bytes', 'changed maps/start.bsp, 7 to 8 bytes', '1 unchanged'],
  'Making PAKs': ['made.pak: 2 files'],
  'Publishing a folder': ['1.0.0.1: 2 files'],
  'Formats, and objects of any format': ['1 keys, as it was', 'key list 1'],
  'PAKs by themselves': ['quake 2'],
  'A server': [' answers 200'],
  Errors: ['E_OFFLINE with a hint'],
  'Bundles and Electron': ['ready'],
};

const key = { name: '00112233445566aa', key: 'ffeeddccbbaa99887766554433221100' };
const contents: Record<string, Uint8Array> = {
  'texts/story.txt': Buffer.from('Once upon a time\n'),
  'data/large.bin': new Uint8Array(2_000_000),
  'secret/end.txt': Buffer.from('happily ever after'),
};
let server: StaticServer;

beforeAll(async () => {
  const port = await freePort();
  const files = Object.entries(contents).map(([name, bytes], i) => {
    const tags = ['Windows', 'enUS'].map((tag, type) => ({ name: tag, type: type + 1 }));
    return { name, fileDataId: 1 + i, read: () => bytes, tags, key: name.startsWith('secret/') ? key : undefined };
  });
  const build = { product: 'sample', root: 'wow', version: '1.0', buildId: 1, hosts: [`127.0.0.1:${port}`] } as const;
  const { names } = await publishBuild({ ...build, files, out: scratch('cdn') });
  server = await serveFolder(scratch('cdn'), { port });
  writeFileSync(scratch('listfile.csv'), encodeListfile(names));
  writeFileSync(scratch('keys.txt'), encodeKeyList([key]));
  const paks = {
    id1: { 'maps/start.bsp': 'a start', 'b.txt': 'b' },
    'id1-new': { 'maps/start.bsp': 'a start!', 'b.txt': 'b', 'maps/end.bsp': 'end' },
  };
  for (const [folder, inside] of Object.entries(paks)) {
    mkdirSync(scratch(folder));
    const entries = Object.entries(inside).map(([name, content]) => ({ name, content }));
    writeFileSync(scratch(folder, 'pak0.pak'), quakePak(entries));
  }
  mkdirSync(scratch('node_modules'), { recursive: true });
  symlinkSync(resolve('.'), scratch('node_modules', 'pakrat'));
});
afterAll(() => server.close());

/** Runs a program in the folder of all of them; the server of its CDN is in this process. */
async function run(
  number: number,
  program: string,
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const file = scratch(`program-${number}.mjs`);
  // For `await using`, which Node itself learned later.
  writeFileSync(file, transformSync(program, { target: 'node20', supported: { using: false } }).code);
  const env = { ...process.env, PAKRAT_PATCH_URL: server.url };
  const child = spawn(process.execPath, [file, 'sample'], { cwd: scratch(), env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece) => {
    stdout += String(piece);
  });
  child.stderr.on('data', (piece) => {
    stderr += String(piece);
  });
  const status = await new Promise<number | null>((done) => child.on('close', done));
  return { status, stdout, stderr };
}

describe('each program of docs/api.md', () => {
  test('is known here', () => {
    expect(programs.map(([title]) => title)).toEqual(Object.keys(printed));
  });

  test.each(programs.map(([title, program], i) => [title, program, i] as const))('%s', async (title, program, i) => {
    const { status, stdout, stderr } = await run(i, program);
    expect({ status, problem: status === 0 ? '' : stderr }).toEqual({ status: 0, problem: '' });
    let rest = stdout;
    for (const words of printed[title] ?? []) {
      expect(rest).toContain(words);
      rest = rest.slice(rest.indexOf(words) + words.length);
    }
  });
});

test('every code of an error is on the page, and every method of a session', () => {
  expect(Object.keys(errorCodes).length).toBeGreaterThan(20);
  for (const code of Object.keys(errorCodes)) {
    const [, family, part] = /^(E_(?:FORMAT|NETWORK|STORE))(_\w+)$/.exec(code) ?? [];
    expect(page).toMatch(part === undefined ? `\`${code}\`` : new RegExp(`\`${family}.*\`(?:${family})?${part}\``));
  }
  const methods = [...readFileSync('src/pakrat.ts', 'utf8').matchAll(/^ {2}(?:async )?(\w+)\(.*Promise</gm)];
  for (const [, name] of methods) expect(page).toMatch(new RegExp(`\\b${name}\\b`));
});
