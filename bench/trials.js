// The trials of syncing and reading builds. Each makes what it needs below `work`, and prints lines of figures.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { blteTrial } from './blte-trial.js';
import { extractTrial } from './extract-trials.js';
import { growthTrial } from './growth-trial.js';
import { idleSyncTrial } from './idle-sync-trial.js';
import { importTrial } from './import-trial.js';
import { largePlanTrial } from './large-plan-trial.js';
import { listfileTrial, looseFilesTrial } from './lists-trials.js';
import { looseObjectsTrial } from './loose-objects-trial.js';
import { deadEntries, manyBuilds } from './many-builds.js';
import { manyFilesTrial } from './many-files-trial.js';
import { mountTrial } from './mount-trial.js';
import { namesTrial } from './names-trial.js';
import {
  archivesOf,
  bigTree,
  bin,
  fillMemory,
  killedPakrat,
  makeTree,
  measure,
  median,
  pakrat,
  startNginx,
  summaryOf,
  twoGigabytes,
} from './parts.js';
import { latencyTrial, planTrial } from './plan-trial.js';
import { readsTrial } from './reads-trial.js';
import { scatterTrial } from './scatter-trial.js';
import { serveTrial } from './serve-trial.js';
import { startTrial } from './start-trial.js';
import { twoHostsTrial } from './two-hosts-trial.js';
import { unrealTrial } from './unreal-trial.js';

const mebibyte = 1024 * 1024;
const settleMs = 2000;

/** Name, what it shows, how long it takes, and how to run it. `scale` makes trees smaller, to try a trial out. */
export const trials = [
  {
    name: 'sync',
    shows:
      '2 GB in 8 archives from nginx on loopback into a fresh store, beside curl and aria2c with checksums; memory',
    run: syncBesideCurl,
  },
  {
    name: 'big-build',
    shows: 'one file by name out of 2,000,000 in 1000 archives, the first and the second time',
    run: bigBuild,
  },
  {
    name: 'plan',
    shows: 'a sync with nothing to do, dry runs and a sync of 2,000,000 entries; the archive group',
    run: planTrial,
  },
  {
    name: 'latency',
    shows: 'the indices of 1000 archives from a host that is 20 ms away, beside 3 connections',
    run: latencyTrial,
  },
  {
    name: 'extract',
    shows:
      'builds extracted, again, and checked, on all cores: 2 GB in 8,000 files and 100,000 small ones, beside a bare loop, unzip, md5sum',
    run: extractTrial,
  },
  {
    name: 'listfile',
    shows: '2,000,000 names imported, and again with 1 % changed, beside sort and another build',
    run: listfileTrial,
  },
  {
    name: 'loose-files',
    shows: 'one file by name out of a game folder with 200,000 loose files, beside another build',
    run: looseFilesTrial,
  },
  {
    name: 'many-files',
    shows: '180,000 tiny files published, again, compared with their build and packed, beside another build',
    run: manyFilesTrial,
  },
  { name: 'loose-objects', shows: '4,000 loose objects synced, beside another build', run: looseObjectsTrial },
  {
    name: 'import',
    shows: 'a mirror taken into a store: 1.8 GB in 8 archives, and 4,000 loose objects, beside cp and md5sum',
    run: importTrial,
  },
  {
    name: 'mount',
    shows: 'a game folder with 300,000 files mounted, then find and ls -R in it, beside another build',
    run: mountTrial,
  },
  {
    name: 'names',
    shows: 'some and all names of 2,000,000 files, and two such builds compared, beside grep and another build',
    run: namesTrial,
  },
  { name: 'resume', shows: 'bytes served for 200 MB when the sync is killed four times', run: resumeAfterKills },
  { name: 'root', shows: 'a WoW root of 2,974,106 rows decoded, then asked for ids and names', run: wowRoot },
  {
    name: 'start',
    shows: 'how long short commands and the library take to start, and how large the package is',
    run: startTrial,
  },
  { name: 'serve', shows: 'ranges of a full store, warm, beside nginx with one worker a core', run: serveTrial },
  {
    name: 'many-builds',
    shows: '500 builds of 20,000 small files: what gc plans the first time and again, status, history',
    run: manyBuilds,
  },
  { name: 'dead-entries', shows: '100,000 dead entries in 1000 archives given back', run: deadEntries },
  {
    name: 'reads',
    shows: 'bytes read for one file, or a range of one, of a sparse PAK of 40 GB and of an object of 3 GB',
    run: readsTrial,
  },
  {
    name: 'blte',
    shows: 'zlib and Salsa20 chunks decoded on all cores, beside inflate and @noble/ciphers',
    run: blteTrial,
  },
  {
    name: 'scatter',
    shows: '20,000 small entries that lie apart, 20 ms away, beside one request an entry',
    run: scatterTrial,
  },
  {
    name: 'large-plan',
    shows: 'the plan of a build as Overwatch 2 is described: 63,705 runs among 9.9 million entries',
    run: largePlanTrial,
  },
  {
    name: 'idle-sync',
    shows: 'a sync with nothing to do in a store with 500 builds and 50,000 archives, beside one build',
    run: idleSyncTrial,
  },
  { name: 'two-hosts', shows: '2 GB from two hosts of 100 MB/s, 40 ms away, beside curl', run: twoHostsTrial },
  {
    name: 'growth',
    shows: 'how costs grow with entries and archives: a table, and bench/growth.svg',
    run: growthTrial,
  },
  { name: 'paks', shows: 'PAK archives beside bare loops that do the same', run: paks },
  { name: 'unreal', shows: 'Unreal PAKs of 1,000,000 tiny files: checked, and one file read', run: unrealTrial },
];

/**
 * The same archives by each way in turn, each into fresh folders. What one wrote is removed before the next begins, which waits until the
 * disk is idle: so each finds pages for its disk cache that the machine has in use. Pages that are new to a virtual machine cost
 * seconds, and whom that hits is luck. Variants alternate all the same.
 */
async function syncBesideCurl({ work, reps, scale }) {
  const tree = twoGigabytes(work, scale);
  const archives = archivesOf(tree, 'a');
  const bytes = archives.reduce((sum, { size }) => sum + size, 0);
  const runs = fs.mkdtempSync(join(work, 'sync-runs-'));
  fillMemory(work);
  const server = await startNginx(tree, runs);
  const variants = [
    { name: 'pakrat sync', run: (to) => pakrat(['sync', 'wow_old', '--store', to, ...server.flags]) },
    { name: 'curl -Z, md5sum', run: (to) => curlThenMd5({ to, url: server.url, archives }) },
    { name: 'aria2c with checksums', run: (to) => aria2({ to, url: server.url, archives, tree }) },
  ].filter(({ name }) => !name.startsWith('aria2c') || isThere('aria2c'));
  const figures = new Map(variants.map(({ name }) => [name, []]));
  try {
    for (let rep = 0; rep < reps; rep++) {
      for (let turn = 0; turn < variants.length; turn++) {
        const { name, run } = variants[(rep + turn) % variants.length];
        const to = join(runs, `${rep}-${turn}`);
        fs.mkdirSync(to);
        spawnSync('sync');
        await sleep(settleMs);
        figures.get(name).push(run(to));
      }
    }
  } finally {
    await server.close();
    fs.rmSync(runs, { recursive: true });
  }
  printVariants(figures, { bytes, archives: archives.length, reps });
}

function isThere(program) {
  const there = spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
  if (!there) console.log(`${program} is not installed: left out\n`);
  return there;
}

function printVariants(figures, { bytes, archives, reps }) {
  console.log(`${(bytes / 1e9).toFixed(2)} GB in ${archives} archives, medians of ${reps}\n`);
  console.log(
    '| | wall s (least to most) | processor s | peak MiB | wall of pakrat / this |\n| --- | --- | --- | --- | --- |',
  );
  const walls = (runs) => runs.map(({ seconds }) => seconds);
  const ours = median(walls(figures.get('pakrat sync')));
  for (const [name, runs] of figures) {
    const [least, most] = [Math.min(...walls(runs)), Math.max(...walls(runs))].map((value) => value.toFixed(2));
    const wall = median(walls(runs));
    const cpu = median(runs.map((run) => run.cpu)).toFixed(2);
    const peak = Math.max(...runs.map(({ mib }) => mib)).toFixed(0);
    console.log(
      `| ${name} | ${wall.toFixed(2)} (${least} to ${most}) | ${cpu} | ${peak} | ${(ours / wall).toFixed(2)} |`,
    );
  }
  console.log('\nAsked: at most 1.00 of curl and md5sum, at most 0.40 of aria2c, and under 300 MB.');
}

function curlThenMd5({ to, url, archives }) {
  const config = archives.map(({ hash, path }) => `url = "${url}/${path}"\noutput = "${join(to, hash)}"\n`).join('');
  const file = join(to, 'curl.conf');
  fs.writeFileSync(file, config);
  const line = `curl -s -S --fail -Z --parallel-max 8 -K '${file}' && printf '%s\\n' ${archives.map(({ hash }) => hash).join(' ')} | xargs -P ${availableParallelism()} -n 1 md5sum`;
  return measure('sh', ['-c', line], { cwd: to });
}

function aria2({ to, url, archives, tree }) {
  const list = archives.map(
    ({ hash, path }) => `${url}/${path}\n  out=${hash}\n  checksum=md5=${md5Of(join(tree, 'www', path))}\n`,
  );
  const file = join(to, 'aria2.txt');
  fs.writeFileSync(file, list.join(''));
  const options = ['-j8', '-x1', '--file-allocation=none', '--console-log-level=error', '--summary-interval=0'];
  return measure('aria2c', ['-i', file, '-d', to, ...options]);
}

const md5s = new Map();
function md5Of(file) {
  if (!md5s.has(file)) md5s.set(file, createHash('md5').update(fs.readFileSync(file)).digest('hex'));
  return md5s.get(file);
}

async function bigBuild({ work, reps, scale }) {
  const tree = bigTree(work, scale);
  const name = aNamedFile(tree);
  const runs = fs.mkdtempSync(join(work, 'big-build-runs-'));
  const server = await startNginx(tree, runs);
  try {
    const { build_b, archives } = summaryOf(tree);
    console.log(`${build_b.root_rows} files in ${archives} archives; extract ${name}\n`);
    console.log('| | wall s | processor s | peak MiB | asked |\n| --- | --- | --- | --- | --- |');
    const extract = (to, more) =>
      pakrat(['extract', 'wow', name, '--to', join(runs, to), '--store', join(runs, 'store'), ...more]);
    const times = [
      ['the first time', extract('first', server.flags), 'under 60 s'],
      ['the second time', extract('second', server.flags), 'under 1 s and 250 MB'],
      ['the third time, --offline', extract('third', ['--offline']), ''],
    ];
    for (const [when, { seconds, cpu, mib }, asked] of times)
      console.log(`| ${when} | ${seconds.toFixed(2)} | ${cpu.toFixed(2)} | ${mib.toFixed(0)} | ${asked} |`);
    const [ours, bare] = [[], []];
    for (let rep = 0; rep < reps; rep++) {
      ours.push(pakrat(['cat', 'wow', name, '--offline', '--store', join(runs, 'store')]).seconds);
      bare.push(measure(process.execPath, ['-e', '0']).seconds);
    }
    const ratio = median(ours) / median(bare);
    console.log(
      `\ncat --offline ${median(ours).toFixed(3)} s, node -e 0 ${median(bare).toFixed(3)} s, medians of ${reps}: ${ratio.toFixed(2)}`,
    );
  } finally {
    await server.close();
    fs.rmSync(runs, { recursive: true });
  }
}

/** A file in the middle of the truth table whose name the root knows. */
function aNamedFile(tree) {
  const file = join(tree, 'truth/build-b.tsv');
  const bytes = Buffer.alloc(mebibyte);
  const fd = fs.openSync(file, 'r');
  const size = fs.readSync(fd, bytes, 0, bytes.length, Math.floor(fs.fstatSync(fd).size / 2));
  fs.closeSync(fd);
  const rows = bytes
    .toString('utf8', 0, size)
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split('\t'));
  return rows.find((row) => row.at(-1) !== '-')[1];
}

async function resumeAfterKills({ work, scale }) {
  const bytes = String(Math.round((260 * mebibyte) / scale));
  const tree = makeTree(join(work, `resume-${scale}`), ['--files', '1500', '--total-bytes', bytes, '--archives', '8']);
  const runs = fs.mkdtempSync(join(work, 'resume-runs-'));
  // A whole sync takes about eight seconds, whatever the scale.
  const server = await startNginx(tree, runs, Math.round((4 * mebibyte) / scale));
  try {
    const served = {};
    for (const kills of [0, 4]) {
      const before = await server.bytesSent();
      const args = ['sync', 'wow', '--store', join(runs, `killed-${kills}`), ...server.flags];
      for (let kill = 0; kill < kills; kill++) await killedPakrat(args, 1100 + 300 * kill);
      pakrat(args);
      served[kills] = (await server.bytesSent()) - before;
    }
    const megabytes = (value) => (value / 1e6).toFixed(1);
    console.log(
      `${megabytes(served[0])} MB served without a kill, ${megabytes(served[4])} MB with four: ratio ${(served[4] / served[0]).toFixed(3)}`,
    );
  } finally {
    await server.close();
    fs.rmSync(runs, { recursive: true });
  }
}

function wowRoot({ work, scale }) {
  const script = join(dirname(fileURLToPath(import.meta.url)), 'root-trial.js');
  const rows = scale === 1 ? [] : [String(Math.round(2_974_106 / scale))];
  const { status } = spawnSync(process.execPath, [script, join(work, 'root'), ...rows], {
    stdio: 'inherit',
    env: { ...process.env, PAKRAT_BIN: bin },
  });
  if (status !== 0) throw new Error(`root-trial.js: exit ${status}`);
}

function paks({ work, scale }) {
  const script = join(dirname(fileURLToPath(import.meta.url)), 'pak-trials.js');
  const { status } = spawnSync(
    process.execPath,
    [script, join(work, scale === 1 ? 'paks' : `paks-${scale}`), String(scale)],
    {
      stdio: 'inherit',
      env: { ...process.env, PAKRAT_BIN: bin },
    },
  );
  if (status !== 0) throw new Error(`pak-trials.js: exit ${status}`);
}
