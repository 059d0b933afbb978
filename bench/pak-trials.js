// PAKs, side by side with a bare loop that does the same work on all cores: whole processes, one after the other.
//
//   node bench/pak-trials.js [FOLDER [SCALE]]
//     FOLDER   keeps the files and the PAK for the next time (default: a folder in /tmp)
//     SCALE    so many times fewer files and runs, to try it out: figures mean nothing then
//
// The PAK is of Unreal's version 3 with zlib, 1.5 GB in 12,604 files: 12,000 of 2 to 40 KB, 600 of about 1 MB, 4 of 150 MB, half of it
// compressible. PAKRAT_BIN names another build, PAKRAT_BEFORE one that is measured in turn with it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { inflateSync } from 'node:zlib';

const self = fileURLToPath(import.meta.url);
const bin = resolve(process.env.PAKRAT_BIN ?? join(dirname(self), '../bin/run.js'));
const before = process.env.PAKRAT_BEFORE;
const sizes = [
  ...Array.from({ length: 12_000 }, (_, i) => 2048 + ((i * 7919) % 38_000)),
  ...Array.from({ length: 600 }, (_, i) => 900_000 + ((i * 104_729) % 250_000)),
  ...Array.from({ length: 4 }, () => 150_000_000),
];

/**
 * The trials, for a runner: name, what is asked of it, how to run it, and how often: short ones more often, for each run weighs little.
 * Where the peer takes less than a second, the start of either program is measured in turn, and taken off.
 */
export const pakTrials = [
  { name: 'pak extract', atMost: 1.1, own: (at) => ['extract', at.pak, '--to', at.out], peer: 'extract', count: 5 },
  { name: 'pak verify', atMost: 1.1, own: (at) => ['verify', at.pak], peer: 'verify', count: 11 },
  { name: 'pak ls', atMost: 1.6, own: (at) => ['ls', at.pak], peer: 'index', count: 21 },
];

/** Makes the files and the PAK where they are not there. */
export function makePak(folder, scale = 1) {
  const at = { pak: join(folder, 'trial.pak'), files: join(folder, 'files'), out: join(folder, 'out') };
  if (fs.existsSync(at.pak)) return at;
  writeFiles(at.files, scale);
  run([bin, 'pack', 'unreal', at.pak, at.files, '--version', '3', '--compress', 'zlib', '--force']);
  fs.rmSync(at.files, { recursive: true });
  return at;
}

function writeFiles(folder, scale) {
  const next = xorshift(7);
  const noise = Uint32Array.from({ length: 1 << 20 }, next);
  const bytes = Buffer.from(noise.buffer);
  sizes.forEach((size, i) => {
    if (i % scale > 0) return;
    const file = join(folder, `d${i % 97}`, `e${i % 13}`, `file${i}.bin`);
    fs.mkdirSync(dirname(file), { recursive: true });
    const fd = fs.openSync(file, 'w');
    for (let done = 0; done < size; done += 65_536)
      fs.writeSync(fd, halfNoise(bytes, next(), Math.min(65_536, size - done)));
    fs.closeSync(fd);
  });
}

/** A block whose first half does not compress and whose second half does. */
function halfNoise(noise, seed, size) {
  const block = Buffer.alloc(size, `line ${seed % 1000} of a text that repeats itself, as texts do; `);
  noise.copy(block, 0, seed % (noise.length - size), (seed % (noise.length - size)) + (size >> 1));
  return block;
}

function xorshift(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Seconds, seconds of all processors and peak memory of a process. */
function run(args) {
  const started = performance.now();
  const { status, stderr } = spawnSync('/usr/bin/env', ['time', '-f', 'used %U %S %M', process.execPath, ...args], {
    stdio: ['ignore', fs.openSync('/dev/null', 'w'), 'pipe'],
    env: { ...process.env, NODE_ENV: 'production' },
    encoding: 'utf8',
  });
  const seconds = (performance.now() - started) / 1000;
  const used = /used (\S+) (\S+) (\d+)/.exec(stderr ?? '');
  if (status !== 0 || used === null) throw new Error(`${args.join(' ')}: exit ${status}\n${stderr}`);
  return { seconds, cpu: Number(used[1]) + Number(used[2]), mib: Number(used[3]) / 1024 };
}

function trial(at, { name, atMost, own, peer, count }) {
  const programs = {
    bare: () => run([self, '--peer', peer, at.pak, at.out]),
    ours: () => run([bin, ...own(at)]),
    ...(before !== undefined && { before: () => run([before, ...own(at)]) }),
    bareStart: () => run(['-e', '0']),
    ourStart: () => run([bin, '--version']),
  };
  const rounds = [];
  for (let round = 0; round < count; round++) {
    const figures = Object.entries(programs).map(([program, measure]) => {
      fs.rmSync(at.out, { recursive: true, force: true });
      return [program, measure()];
    });
    rounds.push(Object.fromEntries(figures));
  }
  fs.rmSync(at.out, { recursive: true, force: true });
  const medianOf = (program, of) => rounds.map((round) => round[program][of]).sort((a, b) => a - b)[count >> 1];
  const isShort = medianOf('bare', 'seconds') < 1;
  for (const program of Object.keys(programs).filter((one) => one === 'ours' || one === 'before')) {
    const [wall, cpu] = ['seconds', 'cpu'].map((of) => {
      const [ours, bare] = [medianOf(program, of), medianOf('bare', of)];
      const worked = (ours - medianOf('ourStart', of)) / (bare - medianOf('bareStart', of));
      const ratio = isShort
        ? `${worked.toFixed(2)} without starts, ${(ours / bare).toFixed(2)} with them`
        : (ours / bare).toFixed(2);
      return `${ours.toFixed(2)} s, bare ${bare.toFixed(2)} s, ratio ${ratio}`;
    });
    const mib = Math.max(...rounds.map((round) => round[program].mib)).toFixed(0);
    console.log(
      `${name.padEnd(12)} ${program.padEnd(6)} wall ${wall} (at most ${atMost}); processor ${cpu}; ${mib} MiB`,
    );
  }
}

/** The bare loops. They know the format no further than version 3 without encryption takes it. */
function readIndex(pak) {
  const fd = fs.openSync(pak, 'r');
  const footer = Buffer.alloc(44);
  fs.readSync(fd, footer, 0, 44, fs.fstatSync(fd).size - 44);
  const index = Buffer.alloc(Number(footer.readBigInt64LE(16)));
  fs.readSync(fd, index, 0, index.length, Number(footer.readBigInt64LE(8)));
  createHash('sha1').update(index).digest();
  return { fd, index };
}

function readRows(index) {
  const rows = [];
  let at = 4 + index.readInt32LE(0);
  const count = index.readInt32LE(at);
  at += 4;
  for (let i = 0; i < count; i++) {
    const nameSize = index.readInt32LE(at);
    const name = index.toString('latin1', at + 4, at + 3 + nameSize);
    at += 4 + nameSize;
    const [offset, stored] = [Number(index.readBigInt64LE(at)), Number(index.readBigInt64LE(at + 8))];
    const method = index.readUInt32LE(at + 24);
    at += 48;
    const blocks = [];
    if (method !== 0) {
      const blockCount = index.readUInt32LE(at);
      at += 4;
      for (let b = 0; b < blockCount; b++, at += 16) {
        blocks.push([Number(index.readBigInt64LE(at)), Number(index.readBigInt64LE(at + 8))]);
      }
    }
    at += 5;
    rows.push({ name, blocks, start: offset + 53 + (method === 0 ? 0 : 4 + 16 * blocks.length), stored });
  }
  return rows;
}

function bareExtract(fd, row, out) {
  const file = join(out, row.name);
  fs.mkdirSync(dirname(file), { recursive: true });
  const to = fs.openSync(file, 'w');
  const read = (offset, size) => {
    const bytes = Buffer.allocUnsafe(size);
    fs.readSync(fd, bytes, 0, size, offset);
    return bytes;
  };
  for (const [start, end] of row.blocks) fs.writeSync(to, inflateSync(read(start, end - start), { chunkSize: 65_537 }));
  if (row.blocks.length === 0) {
    for (let done = 0; done < row.stored; done += 1 << 18) {
      fs.writeSync(to, read(row.start + done, Math.min(1 << 18, row.stored - done)));
    }
  }
  fs.closeSync(to);
}

function bareVerify(fd, row, buffer) {
  const hash = createHash('sha1');
  for (let done = 0; done < row.stored; done += buffer.length) {
    const size = Math.min(buffer.length, row.stored - done);
    fs.readSync(fd, buffer, 0, size, row.start + done);
    hash.update(buffer.subarray(0, size));
  }
  hash.digest();
}

function peer(kind, pak, out) {
  const { index } = readIndex(pak);
  if (kind === 'index') return;
  const next = new Int32Array(new SharedArrayBuffer(4));
  const order = readRows(index)
    .map(({ stored }, i) => ({ stored, i }))
    .sort((a, b) => b.stored - a.stored)
    .map(({ i }) => i);
  for (let i = 0; i < availableParallelism(); i++) new Worker(self, { workerData: { kind, pak, out, next, order } });
}

function peerThread({ kind, pak, out, next, order }) {
  const { fd, index } = readIndex(pak);
  const rows = readRows(index);
  const buffer = Buffer.alloc(1 << 18);
  for (let i = Atomics.add(next, 0, 1); i < order.length; i = Atomics.add(next, 0, 1)) {
    if (kind === 'extract') bareExtract(fd, rows[order[i]], out);
    else bareVerify(fd, rows[order[i]], buffer);
  }
  parentPort.close();
}

if (!isMainThread) peerThread(workerData);
else if (process.argv[2] === '--peer') peer(...process.argv.slice(3));
else if (resolve(process.argv[1] ?? '') === self) {
  const folder = resolve(process.argv[2] ?? join(tmpdir(), 'pakrat-pak-trial'));
  fs.mkdirSync(folder, { recursive: true });
  const scale = Number(process.argv[3] ?? 1);
  const at = makePak(folder, scale);
  for (const one of pakTrials) trial(at, { ...one, count: Math.ceil(one.count / scale) });
}
