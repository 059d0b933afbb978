// What a store of many builds costs: planning what may go, listing them, and giving back what is dead.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { bin, makeTree, pakrat, startNginx } from './parts.js';

/** The part of the files that a build has anew. */
const churn = 0.01;
const filesPerFolder = 200;
const progressEvery = 10;

/** Bytes that no compression makes smaller: of a file, by the build that changed it last. */
function contentOf(file, build) {
  const first = createHash('sha512').update(`${file} ${build}`).digest();
  const size = 100 + (first.readUInt16BE(0) % 201);
  const pieces = [first];
  while (pieces.length * 64 < size)
    pieces.push(
      createHash('sha512')
        .update(pieces.at(-1) ?? first)
        .digest(),
    );
  return Buffer.concat(pieces).subarray(0, size);
}

/** The files that a build changes, counted from 0: the first has all. */
function changedIn(build, files) {
  if (build === 0) return Array.from({ length: files }, (_, i) => i);
  const count = Math.max(1, Math.round(files * churn));
  const digest = (i) => createHash('md5').update(`${build} ${i}`).digest().readUInt32BE(0);
  return Array.from({ length: count }, (_, i) => digest(i) % files);
}

/**
 * 500 builds of 20,000 small files, made by `publish` and synced while they are live, as somebody has them who watches a product. That takes half
 * an hour, once: with `--work` they are there the next time.
 */
export async function manyBuilds({ work, scale }) {
  const builds = Math.max(2, Math.round(500 / scale));
  const folder = join(work, 'many-builds');
  await makeBuilds(folder, { builds, files: 20_000 });
  const store = join(folder, 'store');
  const { bytes, seconds } = readLookups(store);
  console.log(
    `${builds} builds; their look-up files have ${(bytes / 1e9).toFixed(2)} GB, read once in ${seconds.toFixed(2)} s\n`,
  );
  console.log('| | wall s | processor s | peak MiB | asked |\n| --- | --- | --- | --- | --- |');
  const at = ['--store', store, '--offline'];
  const firstAsked = `${(3 * seconds).toFixed(2)} s, 3 times that`;
  printRun('gc --dry-run, the first time', pakrat(['gc', '--dry-run', ...at]), firstAsked);
  printRun('gc --dry-run again', pakrat(['gc', '--dry-run', ...at]), 'under 2 s and 200 MB');
  printRun('gc --keep 1 --dry-run', pakrat(['gc', '--keep', '1', '--dry-run', ...at]), '');
  printRun('status', pakrat(['status', ...at]), 'under 2 s');
  printRun('history', pakrat(['history', 'small', ...at]), 'under 2 s');
  fs.rmSync(join(store, 'marks'), { recursive: true, force: true });
  printRun('gc --dry-run without what syncs found', pakrat(['gc', '--dry-run', ...at]), '');
}

function printRun(what, { seconds, cpu, mib }, asked) {
  console.log(`| ${what} | ${seconds.toFixed(2)} | ${cpu.toFixed(2)} | ${mib.toFixed(0)} | ${asked} |`);
}

/** Reads the look-up files of all builds of a store, from the disk as far as the system lets go of them. */
function readLookups(store) {
  const folders = ['groups', 'manifests', 'names'].map((name) => join(store, name));
  const files = folders.flatMap((folder) => fs.readdirSync(folder).map((name) => join(folder, name)));
  const memory = Buffer.alloc(1 << 20);
  const started = performance.now();
  let bytes = 0;
  for (const file of files) {
    const fd = fs.openSync(file);
    for (let read = -1; read !== 0; bytes += read) read = fs.readSync(fd, memory);
    fs.closeSync(fd);
  }
  return { bytes, seconds: (performance.now() - started) / 1000 };
}

/** Two builds of 200,000 files in 1000 archives; the second has every other file anew, and the first is forgotten. */
export async function deadEntries({ work, scale }) {
  const count = (value) => String(Math.round(value / scale));
  const size = `--files ${count(200_000)} --archives ${count(1000)} --per-archive 200 --total-bytes ${count(300e6)}`;
  const still = '--patches 0 --localized 0 --lowviolence 0 --multi-ekey 0 --foreign 0 --loose 0 --added 0 --removed 0';
  const options = `${size} --tiny --no-encrypt --changed 0.5 ${still}`.split(' ');
  const tree = makeTree(join(work, `dead-entries-${scale}`), options);
  const runs = fs.mkdtempSync(join(work, 'dead-entries-runs-'));
  const server = await startNginx(tree, runs);
  const store = join(runs, 'store');
  try {
    for (const product of ['wow_old', 'wow']) pakrat(['sync', product, '--store', store, ...server.flags]);
    const { stdout } = spawnSync(process.execPath, [bin, 'status', '--store', store, '--json'], { encoding: 'utf8' });
    const { name } = JSON.parse(stdout).builds.find(({ product }) => product === 'wow_old');
    console.log('| | wall s | processor s | peak MiB | asked |\n| --- | --- | --- | --- | --- |');
    const run = pakrat(['forget', `wow_old@${name}`, '--store', store, '--offline']);
    printRun(`${count(100_000)} dead entries in ${count(1000)} archives given back`, run, 'under 60 s');
  } finally {
    await server.close();
    fs.rmSync(runs, { recursive: true });
  }
}

/**
 * Makes a store with builds of small files, or goes on where it was left.
 * @param work a folder that keeps all of it: the files, what is published, and `store`
 */
export async function makeBuilds(work, { builds, files }) {
  const { openPakrat } = await import(join(dirname(bin), '../dist/index.js'));
  const [folder, www] = [join(work, 'files'), join(work, 'www')];
  fs.mkdirSync(work, { recursive: true });
  const done = join(work, 'done');
  const first = fs.existsSync(done) ? Number(fs.readFileSync(done, 'latin1')) : 0;
  if (first >= builds) return;
  fs.mkdirSync(www, { recursive: true });
  const server = await startNginx(work, work);
  const host = server.url.replace('http://', '');
  const pakrat = await openPakrat({ store: join(work, 'store'), patchUrl: server.url, cdnHost: [host], threads: 0 });
  try {
    for (let build = first; build < builds; build++) {
      for (const file of changedIn(build, files)) {
        const path = join(folder, `part${Math.floor(file / filesPerFolder)}`, `file${file}.bin`);
        fs.mkdirSync(dirname(path), { recursive: true });
        fs.writeFileSync(path, contentOf(file, build));
      }
      await pakrat.publish(folder, { product: 'small', to: www, hosts: [host], buildName: `1.${build}`, jobs: 1 });
      await pakrat.sync('small');
      fs.writeFileSync(done, String(build + 1));
      if (build % progressEvery === 0) console.error(`${build + 1} of ${builds} builds`);
    }
  } finally {
    await pakrat.close();
    await server.close();
  }
}
