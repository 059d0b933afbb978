// A WoW root as large as that of the game today: decoded in a process of its own, then asked for ids and names.
//
//   node bench/root-trial.js DIR [ROWS]           makes DIR/ROWS.root and its listfile where they are not there, and prints the table
//   node bench/root-trial.js --decode FILE        what one measured process does: decodes, and prints JSON
//   node bench/root-trial.js --open DIR FILE …    as well, through the store: look-up files, then ids and names
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { loadSource as load } from './source-module.js';

/** Of wow 11.2.7.65299. */
const gameRows = 2_974_106;
const named = 237_592;
const rowsPerBlock = 7_400;
const mebibyte = 1024 * 1024;

/** The most memory that this process had at once. (Its maxRSS would be that of the process that started it, where that was larger.) */
function peakRss() {
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB/m.exec(fs.readFileSync('/proc/self/status', 'latin1'));
  return Number(kibibytes) / 1024;
}

const rss = () => process.memoryUsage().rss / mebibyte;
const cpu = () => process.resourceUsage().userCPUTime / 1e6 + process.resourceUsage().systemCPUTime / 1e6;
const nameOf = (id) => `world/maps/bench/file_${id}.blp`;

/** Seconds of wall and of processors that `body` takes, and by how many MiB it lets the process grow at most. */
async function measured(body) {
  globalThis.gc?.();
  const [startedRss, startedCpu, started] = [rss(), cpu(), performance.now()];
  const value = await body();
  const seconds = (performance.now() - started) / 1000;
  return { value, figures: { seconds, cpu: cpu() - startedCpu, grown: peakRss() - startedRss } };
}

/** Writes a root a block at a time: as one content its rows would be objects of a gigabyte. The first blocks have names. */
async function makeRoot(file, rows) {
  const { encodeWowRoot } = await load('formats/index.ts');
  const { nameHash } = await load('core/jenkins.ts');
  const fd = fs.openSync(`${file}.part`, 'w');
  const list = fs.openSync(`${file}.csv`, 'w');
  const namedRows = Math.round((named / gameRows) * rows);
  for (let first = 0; first < rows; first += rowsPerBlock) {
    const hasNames = first < namedRows;
    const block = Array.from({ length: Math.min(rowsPerBlock, rows - first) }, (_, i) => {
      const fileDataId = (first + i) * 2 + 53;
      const ckey = createHash('md5').update(String(fileDataId)).digest();
      return { fileDataId, ckey, ...(hasNames && { nameHash: nameHash(nameOf(fileDataId)) }) };
    });
    const contentFlags = hasNames ? 0 : 0x10000000;
    const blocks = [{ contentFlags, localeFlags: 0x1f3f6, rows: block }];
    const bytes = encodeWowRoot({ form: 'tsfm2', total: rows, named: namedRows, blocks });
    fs.writeSync(fd, first === 0 ? bytes : bytes.subarray(24));
    fs.writeSync(list, block.map(({ fileDataId }) => `${fileDataId};${nameOf(fileDataId)}\n`).join(''));
  }
  fs.closeSync(fd);
  fs.closeSync(list);
  fs.renameSync(`${file}.part`, file);
}

async function decode(file) {
  const { decodeWowRoot, fillFileDataIds, rowCkey } = await load('formats/index.ts');
  const { value, figures } = await measured(async () => {
    const root = decodeWowRoot(fs.readFileSync(file));
    const ids = fillFileDataIds(root);
    return { rows: root.rowCount, first: ids[0], ckey: rowCkey(root, root.rowCount - 1)[0] };
  });
  return { decode: figures, rows: value.rows };
}

async function open(folder, file) {
  const { openWowRoot } = await load('builds/roots/wow/wow.ts');
  const { ListfileIndex } = await load('builds/listfile/listfile-index.ts');
  const { storeLayout } = await load('store/layout.ts');
  const layout = storeLayout(folder);
  const place = { folders: layout, listfile: ListfileIndex.open(layout) };
  const { value: root, figures: opened } = await measured(async () =>
    openWowRoot(place, { file, ckey: 'f'.repeat(32) }),
  );
  const count = 1000;
  const { figures: looked } = await measured(async () => {
    for (let i = 0; i < count; i++) {
      const id = ((i * 7919) % 200_000) * 2 + 53;
      const [byId] = root.findId(id);
      const [byName] = root.find(nameOf(id));
      if (byId?.parts[0].ckey !== byName?.parts[0].ckey) throw new Error(`${id} is not found`);
    }
  });
  root.close();
  return { open: opened, look: { ...looked, each: looked.seconds / count / 2 } };
}

async function importNames(folder, file) {
  const { importListfile } = await load('builds/listfile/listfile-import.ts');
  const { storeLayout } = await load('store/layout.ts');
  await importListfile(storeLayout(folder), fs.createReadStream(file));
}

function inProcess(...args) {
  const script = fileURLToPath(import.meta.url);
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', script, ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

async function trial(work, rows) {
  const file = join(work, `${rows}.root`);
  fs.mkdirSync(work, { recursive: true });
  if (!fs.existsSync(file)) await makeRoot(file, rows);
  const store = fs.mkdtempSync(join(work, 'root-store-'));
  try {
    await importNames(store, `${file}.csv`);
    const { decode: decoded } = inProcess('--decode', file);
    const first = inProcess('--open', store, file);
    const second = inProcess('--open', store, file);
    const size = fs.statSync(file).size / mebibyte;
    console.log(`${rows} rows, ${size.toFixed(0)} MiB\n`);
    console.log('| | wall s | processor s | grown by MiB | asked |\n| --- | --- | --- | --- | --- |');
    const asked = `under 1.5 s and ${(size + 200).toFixed(0)} MiB`;
    print('decode, and the id of every row', decoded, asked);
    print('open the first time: look-up files are made', first.open, '');
    print('open again', second.open, '');
    print(`1000 ids and 1000 names, ${(second.look.each * 1e6).toFixed(0)} µs each`, second.look, 'no full table');
  } finally {
    fs.rmSync(store, { recursive: true });
  }
}

function print(what, { seconds, cpu: used, grown }, asked) {
  console.log(`| ${what} | ${seconds.toFixed(2)} | ${used.toFixed(2)} | ${Math.max(0, grown).toFixed(0)} | ${asked} |`);
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--decode') console.log(JSON.stringify(await decode(rest[0])));
else if (first === '--open') console.log(JSON.stringify(await open(rest[0], rest[1])));
else await trial(first, Number(rest[0] ?? gameRows));
