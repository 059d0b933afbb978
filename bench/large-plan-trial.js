// The plan of a build that wants pieces of very many entries, as that of Overwatch 2 is described (docs: 63,705 runs of wanted bytes, 52.6 GiB, in 811
// archives with 9.9 million entries), beside one that wants all of 2 million. Indices alone are made, for planning needs no more.
//
//   node bench/run.js large-plan
//   node bench/large-plan-trial.js --make SHAPE DIR SCALE    makes the indices, and the list of what is wanted
//   node bench/large-plan-trial.js --group DIR               what one measured process does: merges the indices
//   node bench/large-plan-trial.js --plan DIR                as well: plans, and prints JSON
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { median } from './parts.js';
import { loadSource as load } from './source-module.js';

const self = fileURLToPath(import.meta.url);
const [KiB, MiB, GiB] = [2 ** 10, 2 ** 20, 2 ** 30];

/**
 * What is made. The counts of gaps by their sizes and the totals are those that were measured of the game; how long runs and entries are is not
 * known, and drawn from log-normal distributions whose means fit the totals. `whole`: all entries are wanted, one behind the other.
 */
const shapes = {
  'Overwatch 2': {
    archives: 811,
    runs: 63_705,
    runBytes: 52.6 * GiB,
    runSpread: 2.4,
    entryBytes: (128 * GiB) / 9.9e6,
    entrySpread: 1.8,
    gaps: [
      [9_937, 1, 4 * KiB],
      [12_223, 4 * KiB, 32 * KiB],
      [5_030, 32 * KiB, 64 * KiB],
      [5_803, 64 * KiB, 128 * KiB],
      [6_099, 128 * KiB, 256 * KiB],
      [10_209, 256 * KiB, MiB],
      [13_593, MiB, 12 * MiB],
    ],
  },
  'all of 2,000,000': { archives: 1015, whole: 1_990_051, entryBytes: 64, entrySpread: 0.1 },
};

/** Makes the shapes, then plans each in a process of its own, in turn. */
export async function largePlanTrial({ work, reps, scale }) {
  const folders = Object.keys(shapes).map((name, i) => {
    const folder = join(work, `large-plan-${i}-${scale}`);
    if (!fs.existsSync(join(folder, 'wanted'))) inProcess(['--make', name, folder, String(scale)]);
    return { name, folder, group: [], plan: [] };
  });
  for (let rep = 0; rep < reps; rep++) {
    for (const { folder, group, plan } of folders) {
      group.push(inProcess(['--group', folder]));
      plan.push(inProcess(['--plan', folder]));
    }
  }
  console.log(`medians of ${reps}\n`);
  console.log(
    '| | entries of indices | wanted | GiB wanted | runs | ranges planned | GiB of them |\n|---|---|---|---|---|---|---|',
  );
  for (const {
    name,
    plan: [one],
  } of folders)
    console.log(
      `| ${name} | ${one.listed} | ${one.wanted} | ${gib(one.wantedBytes)} | ${one.runs} | ${one.requests} | ${gib(one.rangeBytes)} |`,
    );
  console.log('\n| | processor s | µs for each entry that is wanted | peak MiB |\n|---|---|---|---|');
  for (const { name, group, plan } of folders) {
    const of = (runs, what) => median(runs.map((run) => run[what]));
    const cpu = of(plan, 'cpu');
    console.log(`| merging the indices: ${name} | ${of(group, 'cpu').toFixed(2)} | | ${of(group, 'mib').toFixed(0)} |`);
    console.log(
      `| planning: ${name} | ${cpu.toFixed(2)} | ${((1e6 * cpu) / plan[0].wanted).toFixed(2)} | ${of(plan, 'mib').toFixed(0)} |`,
    );
  }
}

const gib = (bytes) => (bytes / GiB).toFixed(2);

function inProcess(args) {
  const { status, stdout } = spawnSync(process.execPath, [self, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${args.join(' ')}: exit ${status}`);
  return stdout === '' ? undefined : JSON.parse(stdout);
}

/** Numbers that are the same each time: in [0, 1), and of a normal distribution. */
function chance(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return { next, normal };
}

/** Sizes of a log-normal distribution, cut to be `total` together where that is given. */
function sizes(random, count, { mean, spread, total }) {
  const drawn = Array.from({ length: count }, () => Math.exp(spread * random.normal()));
  const sum = drawn.reduce((all, one) => all + one, 0);
  const factor = (total ?? mean * count) / sum;
  return drawn.map((one) => Math.max(32, Math.round(one * factor)));
}

/** Stretches of archives, wanted and not, in turn. */
function stretches(random, shape, scale) {
  const count = (value) => Math.max(1, Math.round(value / scale));
  if (shape.whole !== undefined) {
    const each = Math.ceil(count(shape.whole) / count(shape.archives));
    return Array.from({ length: count(shape.archives) }, () => [{ wanted: true, bytes: each * shape.entryBytes }]);
  }
  const runs = sizes(random, count(shape.runs), { spread: shape.runSpread, total: shape.runBytes / scale });
  const gaps = shape.gaps.flatMap(([many, least, most]) =>
    Array.from({ length: count(many) }, () => Math.round(least * (most / least) ** random.next())),
  );
  for (let i = gaps.length - 1; i > 0; i--) {
    const other = Math.floor(random.next() * (i + 1));
    [gaps[i], gaps[other]] = [gaps[other], gaps[i]];
  }
  const archives = Array.from({ length: count(shape.archives) }, () => []);
  runs.forEach((bytes, i) => {
    const archive = archives[i % archives.length];
    if (archive.length > 0) archive.push({ wanted: false, bytes: gaps.pop() ?? MiB });
    archive.push({ wanted: true, bytes });
  });
  return archives;
}

/** Entries of a stretch: as many as their mean size says, that fill it exactly. A gap is one entry where it is small. */
function fill(random, { bytes }, { entryBytes, entrySpread }) {
  const parts = [];
  for (let left = bytes; left > 0; ) {
    const drawn = Math.round(entryBytes * Math.exp(entrySpread * random.normal() - entrySpread ** 2 / 2));
    const size = Math.min(left, Math.max(32, drawn));
    parts.push(left - size < 32 ? left : size);
    left -= parts.at(-1);
  }
  return parts;
}

async function make(name, folder, scale) {
  const { encodeArchiveIndex } = await load('formats/index.ts');
  const { sortRecords } = await load('core/sorting/sort-records.ts');
  const shape = shapes[name];
  const random = chance(7);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const wanted = [];
  let runs = 0;
  for (const [archive, parts] of stretches(random, shape, scale).entries()) {
    const entries = [];
    const keys = [];
    let offset = 0;
    for (const part of parts) {
      if (part.wanted) runs += 1;
      for (const size of fill(random, part, shape)) {
        const ekey = Buffer.alloc(20);
        for (let at = 0; at < 16; at += 4) ekey.writeUInt32LE(random.next() * 2 ** 32, at);
        ekey.writeUInt32BE(size, 16);
        entries.push({ ekey: ekey.subarray(0, 16), size, offset, archive: 0 });
        if (part.wanted) keys.push(ekey);
        offset += size;
      }
    }
    wanted.push(Buffer.concat(keys));
    fs.writeFileSync(join(folder, `${String(archive).padStart(5, '0')}.index`), encodeArchiveIndex(entries).bytes);
  }
  fs.writeFileSync(join(folder, 'facts.json'), JSON.stringify({ runs }));
  fs.writeFileSync(join(folder, 'wanted'), sortRecords(Buffer.concat(wanted), 20, 16));
}

/** Merges the indices as a build that is opened for the first time does, and keeps the group. */
async function mergeIndices(folder) {
  const { decodeArchiveIndex } = await load('formats/index.ts');
  const { ArchiveGroupEncoder } = await load('formats/indices/archive-group.ts');
  const { DerivedWriter } = await load('store/derived/derived-writer.ts');
  const names = fs.readdirSync(folder).filter((one) => /^\d+\.index$/.test(one));
  return measured(async () => {
    const group = new ArchiveGroupEncoder();
    for (const one of names) group.add(decodeArchiveIndex(new Uint8Array(fs.readFileSync(join(folder, one)))));
    const file = new DerivedWriter(folder);
    for (const piece of group.encode()) file.append(piece);
    file.finish(join(folder, 'group'));
    file.close();
  });
}

/** Plans as a sync does whose store holds nothing, from the list of wanted keys, which comes in order as encoding files have it. */
async function plan(folder) {
  const { PagedIndex } = await load('builds/indices/paged-index.ts');
  const { WantedList } = await load('fetch/plan/wanted.ts');
  const { placeEntries } = await load('fetch/plan/placed-entries.ts');
  const { planRanges, requestCount } = await load('fetch/plan/plan.ts');
  const keys = fs.openSync(join(folder, 'wanted'), 'r');
  const piece = Buffer.alloc(20 * 8192);
  let facts = JSON.parse(fs.readFileSync(join(folder, 'facts.json'), 'utf8'));
  const figures = await measured(async () => {
    const group = new PagedIndex(join(folder, 'group'));
    const list = new WantedList(fs.fstatSync(keys).size / 20);
    for (let size = fs.readSync(keys, piece); size > 0; size = fs.readSync(keys, piece))
      for (let at = 0; at < size; at += 20) list.addAt(piece, at, piece.readUInt32BE(at + 16));
    const steps = placeEntries(list.sorted(), group, false);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const loose = () => ({ size: undefined, complete: false, held: [] });
    const options = { gapBytes: 64 * KiB, maxRangeBytes: 256 * MiB };
    const made = planRanges({ placed: step.value, heldSpans: () => [], loose }, options);
    const { wanted, rangeBytes } = made;
    const requests = requestCount(made, options.maxRangeBytes);
    facts = {
      ...facts,
      wanted: wanted.entries,
      wantedBytes: wanted.bytes,
      rangeBytes,
      requests,
      listed: group.layout.count,
    };
  });
  return { ...figures, ...facts };
}

async function measured(body) {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  await body();
  const { user, system } = process.cpuUsage(cpu);
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB/m.exec(fs.readFileSync('/proc/self/status', 'latin1'));
  return { seconds: (performance.now() - started) / 1000, cpu: (user + system) / 1e6, mib: kibibytes / 1024 };
}

const [what, ...rest] = process.argv[1] === self ? process.argv.slice(2) : [];
if (what === '--make') await make(rest[0], rest[1], Number(rest[2]));
if (what === '--group') console.log(JSON.stringify(await mergeIndices(rest[0])));
if (what === '--plan') console.log(JSON.stringify(await plan(rest[0])));
