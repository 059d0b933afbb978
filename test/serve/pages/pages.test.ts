import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { link, paths } from '../../../src/serve/pages/links.ts';
import { Claims } from '../../../src/store/claims.ts';
import { storeLayout } from '../../../src/store/layout.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { pictureBytes, type ServedPage, servePage, tableBytes } from '../../support/served-page.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
let page: ServedPage;

beforeAll(async () => {
  page = await servePage(scratch);
});
afterAll(() => page.close());

interface Answer {
  status: number;
  bytes: Buffer;
  text: string;
  headers: Headers;
}

async function get(path: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(page.server.url + path, init);
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, bytes, text: bytes.toString(), headers: answer.headers };
}

/** The links of a page, as a browser reads them. */
function linksOf(text: string): string[] {
  return Array.from(text.matchAll(/href="([^"]*)"/g), ([, href = '']) => unescaped(href));
}

function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

test('the overview names each build, how much of it is held, and the other sources', async () => {
  const { status, text, headers } = await get('/');
  expect(status).toBe(200);
  for (const name of ['game', 'demo', '1.0.1', '1.0.2', '0.9', 'hostile.pak', 'loose']) expect(text).toContain(name);
  expect(text).toContain('100 %');
  expect(headers.get('content-security-policy')).toMatch(/default-src 'none'/);
});

test('no page has anything inline that would run, and none names what lies elsewhere', async () => {
  const { before, after, pak } = page;
  const views = [
    '/',
    link(paths.build, { in: after }),
    link(paths.browse, { in: pak }),
    link(paths.diff, { before, after }),
    paths.fetching,
    paths.space,
  ];
  for (const view of views) {
    const { text } = await get(view);
    expect(text).not.toMatch(
      /<script(?! src="\/-\/script.js")|<[^>]* (?:on\w+|style)=|javascript:|(?:href|src)="(?:https?:)?\/\//i,
    );
  }
});

test('a build shows its configs and each archive as a picture of what is held', async () => {
  const { text } = await get(link(paths.build, { in: page.part }));
  expect(text).toContain(page.part.split('@')[1]);
  const [, held = ''] = /aria-label="Archive 1: (\d+) % held"/.exec(text) ?? [];
  expect(Number(held)).toBeGreaterThan(10);
  expect(Number(held)).toBeLessThan(90);
  expect(text.match(/<rect class="held"/g)?.length).toBeGreaterThan(3);
  const whole = await get(link(paths.build, { in: page.after }));
  expect(whole.text).toContain('Compare with');
});

test('folders lead down to a file, whose links give its bytes', async () => {
  const top = await get(link(paths.browse, { in: page.after }));
  const maps = linksOf(top.text).find((href) => href.endsWith(encodeURIComponent('maps/')))!;
  const files = linksOf((await get(maps)).text);
  expect(files.filter((href) => href.startsWith(paths.file))).toHaveLength(40);
  const download = files.find((href) => href.startsWith(paths.download) && href.includes('level07'))!;
  const { bytes, headers } = await get(download);
  expect(bytes.toString()).toBe('level 7 of 2\n'.repeat(207));
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="level07.map"/);
  expect([headers.get('x-content-type-options'), headers.get('content-security-policy')]).toEqual([
    'nosniff',
    "default-src 'none'; sandbox",
  ]);
});

test('a file shows its beginning: text, a picture, bytes; and says so when a key lacks', async () => {
  const view = async (name: string): Promise<string> => (await get(link(paths.file, { in: page.after, name }))).text;
  expect(await view('readme.txt')).toContain('light &#38; dark');
  expect(await view('readme.txt')).toContain('&#60;b&#62;Not bold');
  expect(await view('textures/title.png')).toContain('<img class="picture"');
  expect(await view('data/table.bin')).toContain('000000  00 07 0e');
  expect(await view('textures/stone/wall.blp')).toContain('A BLP2 texture');
  expect(await view('sounds/wind.ogg')).toContain('E_KEY_MISSING');
  const raw = await get(link(paths.raw, { in: page.after, name: 'textures/title.png' }));
  expect([raw.headers.get('content-type'), raw.bytes]).toEqual(['image/png', pictureBytes]);
  expect((await get(link(paths.raw, { in: page.after, name: 'readme.txt' }))).status).toBe(500);
  expect((await get(link(paths.file, { in: page.after, name: 'nothing' }))).status).toBe(404);
});

test('a search takes words and globs, and says which cannot be used', async () => {
  const found = async (q: string, folder = ''): Promise<string[]> => {
    const { text } = await get(link(paths.browse, { in: page.after, q, folder }));
    const hrefs = linksOf(text).filter((href) => href.startsWith(`${paths.file}?`));
    return hrefs.map((href) => new URLSearchParams(href.split('?')[1]).get('name') ?? '');
  };
  expect(await found('LEVEL 07')).toEqual(['maps/level07.map']);
  expect(await found('*0?.map')).toHaveLength(10);
  expect(await found('level*9.map 3')).toEqual(['maps/level39.map']);
  expect(await found('t*', 'data/')).toEqual(['data/table.bin']);
  expect(await found('{readme,table}.*')).toEqual(['data/table.bin', 'readme.txt']);
  expect(await found('"no such"')).toEqual([]);
  expect((await get(link(paths.browse, { in: page.after, q: '{1..9}*' }))).status).toBe(400);
  expect((await get(link(paths.browse, { in: page.after, q: 'a'.repeat(500) }))).status).toBe(400);
});

test('every hostile name is escaped, and its links give its file', async () => {
  for (const [id, names] of [
    [page.pak, page.pakNames],
    [page.folder, page.folderNames],
  ] as const) {
    const everything = await get(link(paths.browse, { in: id, q: '*' }));
    for (const text of [everything.text, (await get(link(paths.browse, { in: id }))).text])
      expect(text).not.toMatch(/<img|<script>|<b>|onerror=|\u202e|\p{Cc}(?<!\n)/u);
    const files = linksOf(everything.text).filter((href) => href.startsWith(`${paths.file}?`));
    const contents: string[] = [];
    for (const href of files) {
      const view = await get(href);
      expect([href, view.status]).toEqual([href, 200]);
      expect(view.text).not.toMatch(/<img|<script>|<b>|\u202e|\p{Cc}(?<!\n)/u);
      const { bytes, headers } = await get(href.replace(paths.file, paths.download));
      const index = new URLSearchParams(href.split('?')[1]).get('index');
      expect(href.length).toBeLessThan(2000);
      contents.push(index === null ? bytes.toString() : `${names[Number(index)]} ${bytes.toString()}`);
      expect(headers.get('content-disposition')).toMatch(
        /^attachment; filename="[^"\\]*"; filename\*=UTF-8''[\w.~%!$&+^`|-]*$/,
      );
    }
    const expected = names.map((name, i) => (id === page.pak ? `${name} content of ${i}\n` : `this is ${name}`));
    expect(contents.toSorted()).toEqual(expected.toSorted());
  }
});

test('what is not served cannot be named', async () => {
  const ids = ['', 'source:3', 'source:1x', '/etc', 'game@1.0.1', '../store', 'folder:/'];
  for (const id of ids) {
    for (const path of [paths.build, paths.browse, paths.file, paths.download, paths.keys])
      expect((await get(link(path, { in: id, name: 'x' }))).status).toBe(404);
  }
  for (const name of ['../ledger.db', '/etc/passwd', '..', '.', ''])
    expect((await get(link(paths.download, { in: page.folder, name }))).status).toBe(404);
  expect((await get(link(paths.diff, { before: '/etc', after: page.after }))).status).toBe(404);
});

test('two builds are compared, and a file is followed over builds', async () => {
  const { before, after } = page;
  const all = await get(link(paths.diff, { before, after }));
  for (const name of ['new/come.txt', 'old/gone.txt', 'maps/level14.map', 'readme.txt'])
    expect(all.text).toContain(name);
  expect(all.text).not.toContain('level15');
  const added = await get(link(paths.diff, { before, after, kind: 'added' }));
  expect(added.text).toContain('new/come.txt');
  expect(added.text).not.toContain('level14');
  const history = await get(link(paths.history, { name: 'maps/level14.map' }));
  expect(history.text).toMatch(/1\.0\.1[\s\S]*new[\s\S]*1\.0\.2[\s\S]*changed/);
  expect((await get(link(paths.history, { name: 'maps/none' }))).text).toContain('E_NOT_FOUND');
});

test('missing keys, and what they lock; space, and what gc would free', async () => {
  const keys = await get(link(paths.keys, { in: page.after }));
  expect(keys.text).toMatch(/fa505078126acb3e[\s\S]*sounds\/wind\.ogg/);
  const space = await get(paths.space);
  expect(space.text).toMatch(/tpr\/game[\s\S]*Bytes no build wants/);
});

test('what is fetched now is shown, and told as it changes', async () => {
  const claims = new Claims(storeLayout(page.store).claims);
  const ended = new AbortController();
  try {
    expect((await get(paths.fetching)).text).toContain('Nothing is being fetched');
    const { body } = await fetch(page.server.url + paths.fetchingEvents, { signal: ended.signal });
    const events = body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await events.read()).value).toMatch(/^data: <p class="state">Nothing/);
    claims.take('tpr/game/data/aa/bb/cc', 0, 3 << 20);
    expect((await events.read()).value).toContain('tpr/game/data/aa/bb/cc');
    expect((await get(paths.fetching)).text).toMatch(/1 stretches[\s\S]*3\.0 MiB/);
  } finally {
    ended.abort();
    claims.close();
  }
});

test.each(['zip', 'tar'])('a selection comes as a %s that others unpack, and tells what it lacks', async (format) => {
  const take = async (name: string, answer: Answer): Promise<string[]> => {
    const [file, to] = [scratch(`${name}.${format}`), scratch(`${name}-${format}`)];
    writeFileSync(file, answer.bytes);
    mkdirSync(to);
    const unzip =
      'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2])';
    if (format === 'tar') execFileSync('tar', ['-xf', file, '-C', to]);
    else execFileSync('python3', ['-c', unzip, file, to]);
    return readdirSync(to, { recursive: true, encoding: 'utf8' }).sort();
  };
  const whole = await take('whole', await get(link(paths.selection, { in: page.after, format })));
  expect(whole).toHaveLength(46 + 6);
  expect(readFileSync(scratch(`whole-${format}`, 'data/table.bin'))).toEqual(tableBytes);
  const lacks = readFileSync(scratch(`whole-${format}`, 'FILES-THAT-COULD-NOT-BE-READ.txt'), 'utf8');
  expect(lacks).toMatch(/^"sounds\/wind.ogg": .*E_KEY_MISSING/);
  const listing = await get(link(paths.browse, { in: page.pak, q: 'p' }));
  const ticked = Array.from(listing.text.matchAll(/name="f" value="([^"]*)"/g), ([, value]) => `f=${value}`);
  const chosen = `${link(paths.selection, { in: page.pak, format })}&below=&${ticked.join('&')}&f=0-aaaaa`;
  const some = await take('some', await get(chosen));
  expect(some).toEqual([
    "';alert(1);'&amp;%00%2f..%2f",
    'FILES-THAT-COULD-NOT-BE-READ.txt',
    'maps',
    'maps/e1m1.bsp',
    'maps/start.bsp',
  ]);
});

test('headers and a bare path are enough for a HEAD, and nothing is taken that is not asked for by a view', async () => {
  expect((await get('/', { method: 'HEAD' })).status).toBe(200);
  expect((await get('/', { method: 'POST' })).status).toBe(405);
  expect((await get(paths.selection, { method: 'PUT' })).status).toBe(405);
  expect((await get('/-/none')).status).toBe(404);
  const { headers, text } = await get(paths.style);
  expect(text).toContain('color-scheme');
  expect((await get(paths.style, { headers: { 'if-none-match': headers.get('etag')! } })).status).toBe(304);
});

test('nothing ticked is nothing, and not everything', async () => {
  expect((await get(`${link(paths.selection, { in: page.pak, format: 'zip' })}&below=`)).status).toBe(400);
});

test('the head of a file is asked for without its bytes, and of what has no end not at all', async () => {
  const head = await get(link(paths.download, { in: page.after, name: 'data/table.bin' }), { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, '5000', 0]);
  expect((await get(paths.fetchingEvents, { method: 'HEAD' })).status).toBe(404);
});
