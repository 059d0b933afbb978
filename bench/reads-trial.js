// What one file, or a range of one, costs to read from a PAK or an object that no memory could hold: bytes that the program asks the system for,
// counted with strace. The PAKs are sparse and written here; the object of 3 GB is published.
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then counted as well.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bin, pakrat, startNginx } from './parts.js';

const GiB = 2 ** 30;
const megabyte = 1e6;
const content = Buffer.alloc(100_000, 'a file in the middle, ');

/** Counts what is read of each. `scale` makes all of it smaller. */
export async function readsTrial({ work, scale }) {
  const before = process.env.PAKRAT_BEFORE;
  const bins = { this: bin, ...(before && { before: resolve(before) }) };
  const folder = fs.mkdtempSync(join(work, 'reads-'));
  try {
    const unreal = unrealPak(join(folder, 'unreal.pak'), Math.round(5000 / scale));
    const quake = quakePak(join(folder, 'quake.pak'), Math.round((4 * GiB - 2 ** 22) / scale));
    const store = await largeObject(folder, Math.round(3e9 / scale));
    const middle = Math.round(1.5e9 / scale);
    const [halfOf, bytes] = [(pak) => Math.floor(pak.large / 2), 100_000];
    console.log(
      '| | program | bytes read | of its chunks | over them | asked |\n| --- | --- | --- | --- | --- | --- |',
    );
    for (const [which, program] of Object.entries(bins)) {
      const cat = (file) => [program, 'cat', file, 'small.bin'];
      const range = (source, options, name, offset) => rangeScript(program, { source, options, name, offset, bytes });
      const row = (what, args, path, chunks) => show(what, which, countReads(args, path), chunks);
      for (const pak of [unreal, quake]) {
        const size = (pak.size / 1e9).toFixed(1);
        row(`cat of 100 KB of ${pak.name}, ${size} GB`, cat(pak.file), pak.file, content.length);
        const args = range(pak.file, {}, 'large.bin', halfOf(pak));
        row(`100 KB in the middle of a file of ${(pak.large / 1e9).toFixed(1)} GB in it`, args, pak.file, bytes);
      }
      const args = range('large', { store, offline: true }, 'large.bin', middle);
      row(`100 KB in the middle of a BLTE object of ${(3 / scale).toFixed(1)} GB`, args, join(store, 'tpr'), 262_145);
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function show(what, which, read, chunks) {
  const over = (read - chunks) / megabyte;
  const asked = over <= 1 ? 'at most 1 MB' : 'at most 1 MB: missed';
  console.log(`| ${what} | ${which} | ${read} | ${chunks} | ${over.toFixed(3)} MB | ${asked} |`);
}

/** Bytes that a program and its threads read of what lies at a path, or below it. */
function countReads(args, path) {
  const traces = fs.mkdtempSync(join(tmpdir(), 'pakrat-strace-'));
  // A file for each thread: in one file calls that another interrupts come in two lines.
  const options = ['-ff', '-o', join(traces, 't'), '-y', '-qq', '-e', 'trace=read,pread64,readv,preadv'];
  try {
    const { status, stderr } = spawnSync('strace', [...options, '-e', 'signal=none', process.execPath, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`strace ${args.join(' ')}: exit ${status}\n${stderr.slice(-2000)}`);
    const lines = fs.readdirSync(traces).flatMap((file) => fs.readFileSync(join(traces, file), 'latin1').split('\n'));
    const reads = lines.filter((line) => line.includes(`<${path}`));
    return reads.reduce((sum, line) => sum + Number(/ = (\d+)$/.exec(line)?.[1] ?? 0), 0);
  } finally {
    fs.rmSync(traces, { recursive: true });
  }
}

/** A program that takes bytes of a file out of a source by the library. */
function rangeScript(program, { source, options, name, offset, bytes }) {
  const library = pathToFileURL(join(dirname(program), '../dist/index.js')).href;
  const script = `
    const { openPakrat } = await import(${JSON.stringify(library)});
    const pakrat = await openPakrat(${JSON.stringify(options)});
    const source = await pakrat.open(${JSON.stringify(source)});
    const part = await source.bytes(${JSON.stringify(name)}, { offset: ${offset}, size: ${bytes} });
    if (part.length !== ${bytes}) throw new Error('too few bytes');
    await source.close();
    await pakrat.close();`;
  return ['--input-type=module', '--eval', script];
}

/** Unreal's version 3: files of 8 MiB that nobody wrote, one of 100 KB among them, and one as large as a tenth of the PAK. */
function unrealPak(file, count) {
  const slot = 8 * 2 ** 20;
  const [large, middle] = [Math.floor(count / 10) * slot, Math.floor(count / 2)];
  const hash = sha1(content);
  const rows = Array.from({ length: count }, (_, i) => [`folder${i % 50}/file${i}.bin`, i * slot, slot - 4096]);
  rows[middle] = ['small.bin', middle * slot, content.length];
  rows.push(['large.bin', count * slot, large]);
  const records = rows.map(([name, offset, size]) => Buffer.concat([text(name), record(offset, size, hash)]));
  const index = Buffer.concat([text('../../../'), i32(rows.length), ...records]);
  const at = count * slot + large + 4096;
  const footer = Buffer.concat([i32(0x5a6f12e1), i32(3), i64(at), i64(index.length), sha1(index)]);
  const size = writeSparse(file, [
    [middle * slot, Buffer.concat([record(0, content.length, hash), content])],
    [count * slot, record(0, large, hash)],
    [at, Buffer.concat([index, footer])],
  ]);
  return { name: 'an Unreal PAK', file, size, large };
}

/** Quake's, as large as 32 bits allow. */
function quakePak(file, at) {
  const row = (name, offset, size) => {
    const bytes = Buffer.alloc(64);
    bytes.write(name);
    bytes.writeUInt32LE(offset, 56);
    bytes.writeUInt32LE(size, 60);
    return bytes;
  };
  const large = Math.floor(at / 2);
  const others = Array.from({ length: 2000 }, (_, i) => row(`folder/file${i}.bin`, 4096, 1000));
  const small = row('small.bin', large + 65_536, content.length);
  const directory = Buffer.concat([row('large.bin', 12, large), ...others, small]);
  const header = Buffer.concat([Buffer.from('PACK'), i32(at), i32(directory.length)]);
  const parts = [
    [0, header],
    [large + 65_536, content],
    [at, directory],
  ];
  return { name: 'a Quake PAK', file, size: writeSparse(file, parts), large };
}

const sha1 = (bytes) => createHash('sha1').update(bytes).digest();
const i32 = (value) => Buffer.from(Int32Array.of(value).buffer);
const i64 = (value) => Buffer.from(BigInt64Array.of(BigInt(value)).buffer);
const text = (value) => Buffer.concat([i32(value.length + 1), Buffer.from(`${value}\0`)]);
const record = (offset, size, hash) =>
  Buffer.concat([i64(offset), i64(size), i64(size), i32(0), hash, Buffer.alloc(5)]);

/** Writes parts at their places, and nothing between them. */
function writeSparse(file, parts) {
  const fd = fs.openSync(file, 'w');
  for (const [offset, bytes] of parts) fs.writeSync(fd, bytes, 0, bytes.length, offset);
  const { size } = fs.fstatSync(fd);
  fs.closeSync(fd);
  return size;
}

/** A store with a build of one large file, in chunks of 256 KiB that are stored as they are. */
async function largeObject(folder, size) {
  const [files, www, store] = ['files', 'large-www', 'store'].map((name) => join(folder, name));
  fs.mkdirSync(files);
  fs.mkdirSync(join(www, 'www'), { recursive: true });
  const fd = fs.openSync(join(files, 'large.bin'), 'w');
  fs.ftruncateSync(fd, size);
  fs.closeSync(fd);
  const espec = ['--espec', 'b:{256K*=n}'];
  pakrat(['publish', files, '--product', 'large', '--to', join(www, 'www'), ...espec]);
  const server = await startNginx(www, folder);
  try {
    pakrat(['sync', 'large', '--store', store, ...server.flags]);
  } finally {
    await server.close();
  }
  fs.rmSync(www, { recursive: true });
  return store;
}
