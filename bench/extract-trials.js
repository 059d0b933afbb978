// Extraction and checks of a build on all cores, side by side with what does the same work bare: whole processes, in turn.
//
//   node bench/run.js extract
//
// PAKRAT_BIN names the build that is measured, PAKRAT_BEFORE one that it is compared with, where there is one.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import * as fs from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { inflateSync } from 'node:zlib';
import { salsa20 } from '@noble/ciphers/salsa.js';
import { bin, MemoryFolders, makeTree, measure, median, pakrat, startNginx } from './parts.js';

const self = fileURLToPath(import.meta.url);
const before = process.env.PAKRAT_BEFORE;
const cores = String(availableParallelism());

/** The trees: what the generator makes, and what is asked. */
const trees = [
  {
    name: 'mixed',
    make: ['--files', '8000', '--total-bytes', '2000000000', '--max-file', '60000000', '--archives', '20', '--local'],
  },
  {
    name: 'small',
    make: ['--files', '100000', '--total-bytes', '800000000', '--max-file', '12000', '--archives', '60'],
  },
];

/** Runs the trial on both trees. `memory` is a folder in memory, for what is written. */
export async function extractTrial({ work, reps, scale }) {
  const memory = fs.mkdtempSync(join(fs.existsSync('/dev/shm') ? '/dev/shm' : work, 'pakrat-bench-'));
  try {
    for (const { name, make } of trees) {
      const tree = makeTree(join(work, `extract-${name}`), shrunk([...make, '--withheld', '0'], scale));
      const store = join(work, `extract-${name}-store`);
      if (!fs.existsSync(join(store, 'ledger.db'))) await fill(tree, store, work);
      const folders = new MemoryFolders(memory, work);
      trialOf(name, { store, memory, folders, tree, reps });
      if (make.includes('--local')) trialOfInstall(name, { store, memory, folders, tree, reps });
    }
  } finally {
    fs.rmSync(memory, { recursive: true });
  }
}

function shrunk(args, scale) {
  return args.map((arg, i) =>
    ['--files', '--total-bytes'].includes(args[i - 1]) ? String(Math.round(arg / scale)) : arg,
  );
}

async function fill(tree, store, work) {
  const runs = fs.mkdtempSync(join(work, 'runs-'));
  const server = await startNginx(tree, runs);
  try {
    pakrat(['sync', 'wow', '--store', store, ...server.flags]);
  } finally {
    await server.close();
    fs.rmSync(runs, { recursive: true });
  }
  pakrat(['keys', 'import', join(tree, 'truth/keys.txt'), '--store', store]);
}

function trialOf(name, { store, memory, folders, tree, reps }) {
  const plan = join(memory, 'plan.json');
  fs.writeFileSync(plan, JSON.stringify(planOf('wow', { store, tree, places: placesIn(store) })));
  const extract = (program, to = folders.next()) => measureExtract(program, 'wow', { store, to });
  const every = (folder, count) => ['-c', `find ${folder} -type f -print0 | xargs -0 -P${cores} -n ${count} md5sum`];
  const verify = (program) => measure(process.execPath, [program, 'verify', '--store', store, '--offline', '--quiet']);
  row(`extract ${name}`, reps, {
    ours: () => extract(bin),
    before: before && (() => extract(before)),
    'bare loop': () => measure(process.execPath, [self, plan, folders.next()]),
  });
  const whole = join(memory, 'whole');
  extract(bin, whole);
  if (name === 'small') {
    const zip = join(memory, 'all.zip');
    execFileSync('zip', ['-qr', zip, '.'], { cwd: whole });
    row(`extract ${name}`, reps, {
      ours: () => extract(bin),
      unzip: () => measure('unzip', ['-q', zip, '-d', folders.next()]),
    });
    row(`extract ${name} to a tar`, reps, {
      ours: () => extract(bin, '-'),
      before: before && (() => extract(before, '-')),
      'unzip -p': () => measure('unzip', ['-p', zip]),
    });
    row(`extract ${name} on one core`, reps, {
      ours: () => onOneCore(bin, { store, to: folders.next() }),
      before: before && (() => onOneCore(before, { store, to: folders.next() })),
      unzip: () => measure('unzip', ['-q', zip, '-d', folders.next()]),
    });
  }
  row(`extract ${name} again`, reps, {
    ours: () => extract(bin, whole),
    before: before && (() => extract(before, whole)),
    md5sum: () => measure('sh', every(whole, 500)),
  });
  row(`verify ${name}`, reps, {
    ours: () => verify(bin),
    before: before && (() => verify(before)),
    md5sum: () => measure('sh', every(store, 5)),
  });
  fs.rmSync(whole, { recursive: true });
  folders.empty();
}

function measureExtract(program, source, folders) {
  return measure(process.execPath, extractArgs(program, source, folders));
}

function onOneCore(program, folders) {
  return measure('taskset', ['-c', '0', process.execPath, ...extractArgs(program, 'wow', folders)]);
}

function extractArgs(program, source, { store, to }) {
  return [program, 'extract', source, '--store', store, '--offline', '--to', to, '--quiet'];
}

/** The same build from an installed client; keys are the store's. */
function trialOfInstall(name, { store, memory, folders, tree, reps }) {
  const folder = join(tree, 'local');
  const plan = join(memory, 'plan.json');
  fs.writeFileSync(plan, JSON.stringify(planOf(folder, { store, tree, places: placesOfInstall(folder) })));
  const extract = (program) => measureExtract(program, folder, { store, to: folders.next() });
  row(`extract ${name} from an install`, reps, {
    ours: () => extract(bin),
    before: before && (() => extract(before)),
    'bare loop': () => measure(process.execPath, [self, plan, folders.next()]),
  });
  folders.empty();
  verifyRow(`verify ${name} of the install`, reps, folder);
  verifyRow(`verify ${name} of the CDN folder`, reps, join(tree, 'www/tpr/wow'));
}

/** A folder checked where it lies. */
function verifyRow(title, reps, folder) {
  const verify = (program) => measure(process.execPath, [program, 'verify', folder, '--quiet']);
  row(title, reps, {
    ours: () => verify(bin),
    before: before && (() => verify(before)),
    md5sum: () => measure('sh', ['-c', `find ${folder} -type f -print0 | xargs -0 -P${cores} -n 5 md5sum`]),
  });
}

/** Runs the variants in turn, and prints medians with the ratio to the last. */
function row(title, reps, variants) {
  const runs = Object.entries(variants).filter(([, run]) => run);
  const results = runs.map(() => []);
  for (let rep = 0; rep < reps; rep++) for (const [i, [, run]] of runs.entries()) results[i].push(run());
  const of = (i, what) => median(results[i].map((result) => result[what]));
  const last = runs.length - 1;
  const cells = runs.map(([name], i) => {
    const ratio = (what) => (of(i, what) / of(last, what)).toFixed(2);
    const ratios = i === last ? '' : ` (ratio ${ratio('seconds')}, processor ${ratio('cpu')})`;
    return `${name} ${of(i, 'seconds').toFixed(2)} s, processor ${of(i, 'cpu').toFixed(2)} s, ${of(i, 'mib').toFixed(0)} MiB${ratios}`;
  });
  console.log(`${title}: ${cells.join(' · ')}`);
}

/** What a bare loop needs to know: where each file lies, and the keys. */
function planOf(source, { store, tree, places }) {
  const list = spawnSync(
    process.execPath,
    [bin, 'ls', source, '-R', '--json', '--store', store, '--offline', '--quiet'],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    },
  );
  const files = JSON.parse(list.stdout).flatMap(({ name, ekey, ckey }) => {
    const place = places.get(ekey);
    return place === undefined ? [] : [{ name: name.replace(':', '-'), ckey, ...place }];
  });
  const lines = fs.readFileSync(join(tree, 'truth/keys.txt'), 'utf8').trim().split('\n');
  return { files, keys: Object.fromEntries(lines.map((line) => line.toLowerCase().split(' '))) };
}

/** The places of all entries, by their ekeys: those of archives by their indices, loose objects as they are. */
function placesIn(store) {
  const names = fs
    .readdirSync(store, { recursive: true })
    .filter((name) => /\/data\/..\/..\/[0-9a-f]{32}(\.index)?$/.test(name));
  const objects = new Map(
    names.filter((name) => !name.endsWith('.index')).map((name) => [name.slice(-32), join(store, name)]),
  );
  const places = new Map();
  for (const [ekey, file] of objects) places.set(ekey, { file, offset: 0, size: fs.statSync(file).size });
  for (const name of names.filter((one) => one.endsWith('.index'))) {
    const file = objects.get(name.slice(-38, -6));
    if (file === undefined) continue;
    const bytes = fs.readFileSync(join(store, name));
    const count = bytes.readUInt32LE(bytes.length - 12);
    for (let i = 0; i < count; i++) {
      const at = Math.floor(i / 170) * 4096 + (i % 170) * 24;
      const size = bytes.readUInt32BE(at + 16);
      places.set(bytes.toString('hex', at, at + 16), { file, offset: bytes.readUInt32BE(at + 20), size });
    }
  }
  return places;
}

/** The same in an installed client: its data files are one object after the other, each behind 30 bytes with its key, the other way round, and its size. */
function placesOfInstall(folder) {
  const places = new Map();
  const data = join(folder, 'Data/data');
  for (const name of fs.readdirSync(data).filter((one) => /^data\.\d+$/.test(one))) {
    const file = join(data, name);
    const fd = fs.openSync(file, 'r');
    const header = Buffer.alloc(30);
    for (let at = 0; fs.readSync(fd, header, 0, 30, at) === 30; at += header.readUInt32LE(16)) {
      const ekey = Buffer.from(header.subarray(0, 16)).reverse().toString('hex');
      places.set(ekey, { file, offset: at + 30, size: header.readUInt32LE(16) - 30 });
    }
    fs.closeSync(fd);
  }
  return places;
}

/** The bare loop: reads, checks chunks, decrypts, inflates, checks the file, writes. It knows the format as far as these trees take it. */
function bareFile({ name, ckey, file, offset, size }, to, fds, keys) {
  const fd = fds.get(file) ?? fs.openSync(file, 'r');
  fds.set(file, fd);
  const bytes = Buffer.allocUnsafe(size);
  fs.readSync(fd, bytes, 0, size, offset);
  const headerSize = bytes.readUInt32BE(4);
  const count = headerSize === 0 ? 1 : bytes.readUIntBE(9, 3);
  const parts = [];
  let at = headerSize || 8;
  for (let i = 0; i < count; i++) {
    const chunk = bytes.subarray(at, headerSize === 0 ? size : at + bytes.readUInt32BE(12 + 24 * i));
    at += chunk.length;
    const expected = headerSize === 0 ? undefined : bytes.toString('hex', 20 + 24 * i, 36 + 24 * i);
    if (expected !== undefined && hash('md5', chunk) !== expected) throw new Error(`${name}: chunk ${i}`);
    parts.push(decoded(chunk, i, keys));
  }
  const whole = parts.length === 1 ? parts[0] : Buffer.concat(parts);
  if (createHash('md5').update(whole).digest('hex') !== ckey) throw new Error(`${name}: content`);
  const path = join(to, name);
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, whole);
}

function decoded(chunk, index, keys) {
  const mode = String.fromCharCode(chunk[0]);
  if (mode === 'N') return chunk.subarray(1);
  if (mode === 'Z') return inflateSync(chunk.subarray(1));
  if (mode !== 'E') throw new Error(`mode ${mode}`);
  const key = Buffer.from(keys[Buffer.from(chunk.subarray(2, 10)).reverse().toString('hex')], 'hex');
  const ivSize = chunk[10];
  const nonce = new Uint8Array(8);
  nonce.set(chunk.subarray(11, 11 + ivSize));
  for (let i = 0; i < 4; i++) nonce[i] ^= (index >>> (8 * i)) & 0xff;
  return decoded(Buffer.from(salsa20(key, nonce, Uint8Array.from(chunk.subarray(12 + ivSize)))), index, keys);
}

function bareThread({ plan, to, next }) {
  const { files, keys } = JSON.parse(fs.readFileSync(plan, 'utf8'));
  const fds = new Map();
  for (let i = Atomics.add(next, 0, 1); i < files.length; i = Atomics.add(next, 0, 1))
    bareFile(files[i], to, fds, keys);
}

if (!isMainThread) bareThread(workerData);
else if (process.argv[1] === self) {
  const [plan, to] = process.argv.slice(2);
  const next = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < availableParallelism(); i++) new Worker(self, { workerData: { plan, to, next } });
}
