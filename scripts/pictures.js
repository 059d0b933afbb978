// Makes docs/pictures: what a terminal shows of a sync, an extraction and other commands, each as an SVG. The program runs in a terminal of
// 96 columns (`script`, util-linux), against a sample build that is published and served for it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');
const out = path.join(root, 'docs/pictures');
const columns = 96;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pakrat-pictures-'));

/** What makes and serves a build is TypeScript of the project, and no part of the package's doors. */
async function loadTools() {
  const outfile = path.join(root, 'node_modules/.cache/pictures.mjs');
  const from = (name) => `export * from './src/${name}.ts';`;
  const contents = ['publish/publish-build', 'serve/static-server', 'formats/roots/listfile'].map(from).join('\n');
  const stdin = { contents, resolveDir: root, loader: 'ts' };
  await build({
    stdin,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

/** Files with names as games have them, and contents that hardly get smaller. */
function filesOf(version) {
  const names = [
    ...Array.from({ length: 60 }, (_, i) => `interface/icons/inv_misc_bag_${String(i).padStart(2, '0')}.blp`),
    ...Array.from({ length: 40 }, (_, i) => `world/maps/azeroth/azeroth_${String(20 + i)}_31.adt`),
    ...Array.from({ length: 12 }, (_, i) => `sound/music/zonemusic/forest_${String(i + 1).padStart(2, '0')}.mp3`),
    'dbfilesclient/item.db2',
    'dbfilesclient/map.db2',
  ];
  const tags = ['Windows', 'x86_64', 'enUS'].map((name, i) => ({ name, type: i + 1 }));
  return names.map((name, i) => {
    const changed = i % 9 === 0 ? version : 0;
    const size = name.endsWith('.blp') ? 24_000 : name.endsWith('.adt') ? 190_000 : 640_000;
    return { name, fileDataId: 1000 + i, tags, read: () => noise(size + changed * 700, i * 7 + changed) };
  });
}

function noise(size, seed) {
  const bytes = Buffer.alloc(size);
  let state = seed * 2654435761 + 1;
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** Runs a command in a terminal. @returns every state of its screen, as lines, the last one last */
function screens(command, env) {
  const line = `stty cols ${columns} rows 40; exec ${JSON.stringify(process.execPath)} ${path.join(root, 'bin/run.js')} ${command}`;
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    cwd: folder,
    env: { ...process.env, CI: '', TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const states = [];
  const lines = [''];
  let at = 0;
  const put = (text) => {
    const line = lines.at(-1) ?? '';
    lines[lines.length - 1] = line.slice(0, at).padEnd(at) + text + line.slice(at + text.length);
    at += text.length;
  };
  child.stdout.on('data', (piece) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's output has them.
    for (const token of String(piece).match(/\x1b\[[\d;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+/g) ?? []) {
      if (token === '\n') {
        lines.push('');
        at = 0;
      } else if (token === '\r') at = 0;
      else if (token.endsWith('K') && token.startsWith('\x1b'))
        lines[lines.length - 1] = (lines.at(-1) ?? '').slice(0, at);
      else if (!token.startsWith('\x1b')) put(token);
    }
    states.push([...lines]);
  });
  return new Promise((done) => child.on('close', () => done(states)));
}

/** States of a bar at three moments, and the end. */
function moments(states, phase) {
  const bars = states.map((lines) => lines.at(-1) ?? '').filter((line) => phase.test(line));
  const at = (share) => bars[Math.floor((bars.length - 1) * share)] ?? '';
  return [at(0.15), at(0.5), at(0.9)];
}

const lineHeight = 18;
const charWidth = 8;
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A line as a terminal breaks it. */
function broken(line) {
  const parts = line.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [''];
  return parts.map((text) => ({ text, line }));
}

function picture(name, given) {
  const lines = given.map((line) => line.replaceAll(folder, '…')).flatMap(broken);
  const height = lines.length * lineHeight + 52;
  const width = columns * charWidth + 40;
  const escaped = (text) => text.replace(/[&<>]/g, (char) => escapes[char]);
  const texts = lines.map(({ text, line }, i) => {
    const color = line.startsWith('$ ') ? '#9ece6a' : /^(?:Error|Code|Try)/.test(line) ? '#f7768e' : '#c0caf5';
    return `<text x="20" y="${48 + i * lineHeight}" fill="${color}" xml:space="preserve">${escaped(text)}</text>`;
  });
  const dots = ['#f7768e', '#e0af68', '#9ece6a'].map(
    (fill, i) => `<circle cx="${20 + i * 18}" cy="18" r="6" fill="${fill}"/>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="monospace" font-size="13.3">
<title>A terminal: ${escaped(given[0])}</title>
<rect width="100%" height="100%" rx="8" fill="#1a1b26"/>${dots.join('')}
${texts.join('\n')}
</svg>
`;
  fs.writeFileSync(path.join(out, `${name}.svg`), svg);
}

const trimmed = (lines) => lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);

const { publishBuild, serveFolder, encodeListfile } = await loadTools();
fs.mkdirSync(out, { recursive: true });
const cdn = path.join(folder, 'cdn');
fs.mkdirSync(cdn);
const server = await serveFolder(cdn, {});
const place = { product: 'wow_classic_era', out: cdn, hosts: [new URL(server.url).host], root: 'wow' };
try {
  const { names } = await publishBuild({ ...place, version: '1.15.6.58912', buildId: 58912, files: filesOf(1) });
  fs.writeFileSync(path.join(folder, 'listfile.csv'), encodeListfile(names));
  const env = { PAKRAT_STORE: path.join(folder, 'store'), PAKRAT_PATCH_URL: server.url };
  await screens('listfile import listfile.csv', env);
  await screens('sync wow_classic_era --quiet', env);
  await publishBuild({ ...place, version: '1.15.7.61582', buildId: 61582, files: filesOf(2) });

  const shown = async (name, command, { phase, rows = 34, other = env } = {}) => {
    const states = await screens(command, other);
    const end = trimmed(states.at(-1) ?? []).slice(0, rows);
    picture(name, [
      `$ pakrat ${command.replace(/ --(?:cdn-host|limit-rate) \S+/, '')}`,
      ...(phase === undefined ? [] : [...moments(states, phase), '']),
      ...end,
    ]);
  };
  const fresh = { ...env, PAKRAT_STORE: path.join(folder, 'fresh') };
  await shown('sync', 'sync wow_classic_era --limit-rate 3M', { phase: /^data .*\[/, other: fresh });
  await screens('listfile import listfile.csv', fresh);
  const slow = await serveFolder(cdn, { bytesPerSecond: 4 << 20 });
  const empty = { ...env, PAKRAT_STORE: path.join(folder, 'empty') };
  await screens('listfile import listfile.csv', empty);
  const cdnHost = `--cdn-host ${new URL(slow.url).host}`;
  await shown('extract', `extract wow_classic_era 'world/**' --to maps ${cdnHost}`, {
    phase: /^(?:fetch|extract) /,
    other: empty,
  });
  await slow.close();
  await screens("sync wow_classic_era --include 'interface/**' --quiet", env);
  await shown('status', 'status');
  await shown('info', 'info wow_classic_era');
  await shown('ls', 'ls wow_classic_era');
  await shown('ls-long', 'ls wow_classic_era sound/music/zonemusic --long');
  await shown('ls-tree', 'ls wow_classic_era sound --tree');
  await shown('diff', 'diff wow_classic_era@1.15.6.58912 wow_classic_era@1.15.7.61582 --summary');
  await shown('error', 'cat wow_classic_era interface/icons/inv_misc_bag_8.blp');
} finally {
  await server.close();
  fs.rmSync(folder, { recursive: true, force: true });
}
