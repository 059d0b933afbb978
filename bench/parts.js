// What the trials are made of: a generated CDN tree, nginx over it, and runs of programs with their time, processor time and memory.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
export const bin = resolve(process.env.PAKRAT_BIN ?? join(here, '../bin/run.js'));
const generator = resolve(
  process.env.PAKRAT_CONFORMANCE ?? join(here, '../../shared/conformance'),
  '../tools/gencdn.py',
);

/** Makes a tree where it is not there whole, and gives back its folder. */
export function makeTree(folder, options) {
  const made = join(folder, 'made-with');
  const wanted = options.join(' ');
  if (fs.existsSync(made) && fs.readFileSync(made, 'utf8') === wanted) return folder;
  if (!fs.existsSync(generator))
    throw new Error(`no generator at ${generator}: name its folder with PAKRAT_CONFORMANCE`);
  fs.rmSync(folder, { recursive: true, force: true });
  console.error(`making ${folder}: gencdn.py make ${wanted}`);
  execFileSync('python3', [generator, 'make', '--out', folder, ...options], { stdio: 'ignore' });
  fs.writeFileSync(made, wanted);
  return folder;
}

/** The tree of a build of 2,000,000 files in 1000 archives, or of one so many times smaller. */
export function bigTree(work, scale) {
  const count = (value) => String(Math.round(value / scale));
  const smaller = ['--files', count(2e6), '--per-archive', '3000', '--foreign', count(1e6), '--archives', count(1000)];
  return makeTree(join(work, `big-build-${scale}`), ['--preset', 'wow', ...(scale === 1 ? [] : smaller)]);
}

/** 1.8 GB in 8 archives. */
export function twoGigabytes(work, scale) {
  const bytes = Math.round((2400 * 2 ** 20) / scale);
  const archives = ['--per-archive', '262', '--archive-max', '400M', '--localized', '0', '--lowviolence', '0'];
  const still = ['--changed', '0', '--added', '0', '--removed', '0', '--patches', '0', '--zlevel', '1'];
  return makeTree(join(work, `two-gigabytes-${scale}`), [
    '--files',
    '2000',
    '--total-bytes',
    String(bytes),
    ...archives,
    ...still,
  ]);
}

/** Facts about a tree that the generator wrote. */
export function summaryOf(tree) {
  return JSON.parse(fs.readFileSync(join(tree, 'truth/summary.json'), 'utf8'));
}

/** Paths below www/ of the archives of a build, with their sizes. */
export function archivesOf(tree, which) {
  const { configs, options } = summaryOf(tree);
  const path = (kind, hash) => `${options.path}/${kind}/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
  const config = fs.readFileSync(join(tree, 'www', path('config', configs.cdn[which])), 'utf8');
  const archives = /^archives = (.*)$/m.exec(config)[1].split(' ');
  return archives.map((hash) => {
    const file = path('data', hash);
    return { hash, path: file, size: fs.statSync(join(tree, 'www', file)).size };
  });
}

/**
 * Fills free memory with a file. A virtual machine gives free memory back to its host after a moment, and whoever writes into it then waits for the host, 2 s
 * a GB: a matter of luck, and of no program. Runs that follow leave their output where it is until all are done. Takes a minute on such a machine.
 */
export function fillMemory(work) {
  const file = join(work, 'memory');
  // What another file of that name has of the memory is free then.
  fs.rmSync(file, { force: true });
  const free = memoryMiB('MemFree');
  if (free < 2048) return;
  console.error(`filling ${Math.round(free / 1024)} GiB of memory`);
  execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M', `count=${Math.round(free - 512)}`], { stdio: 'ignore' });
  execFileSync('sync');
}

function memoryMiB(name) {
  return Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(fs.readFileSync('/proc/meminfo', 'utf8'))[1]) / 1024;
}

/** Folders in memory for what runs write. Each stays until little memory is left for the next; then they go, and memory is filled anew. */
export class MemoryFolders {
  #root;
  #work;
  #count = 0;

  constructor(root, work) {
    this.#root = root;
    this.#work = work;
    fillMemory(work);
  }

  /** A name that nothing has. */
  next() {
    if (memoryMiB('MemAvailable') < 6144) {
      this.empty();
      fillMemory(this.#work);
    }
    this.#count += 1;
    return join(this.#root, String(this.#count));
  }

  empty() {
    for (const name of fs.readdirSync(this.#root))
      if (/^\d+$/.test(name)) fs.rmSync(join(this.#root, name), { recursive: true });
  }
}

/**
 * Starts nginx over the www/ of a tree, on a free port of 127.0.0.1: one process, or a master with workers. `tcp_nopush` is off: with it, ranges
 * over 64 KiB stall on loopback.
 */
export async function startNginx(tree, home, bytesPerSecond = 0, workers = undefined) {
  const port = await freePort();
  const log = join(home, 'nginx.log');
  const conf = join(home, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((part) => `${part}_temp_path ${home};`);
  fs.writeFileSync(
    conf,
    `daemon off; ${workers === undefined ? 'master_process off' : `worker_processes ${workers}`}; pid ${home}/nginx.pid; error_log ${home}/nginx-error.log;
events { worker_connections 1024; }
http {
  log_format sent '$body_bytes_sent'; access_log ${log} sent;
  ${temporary.join(' ')}
  sendfile on; tcp_nopush off; keepalive_requests 1000000;
  server { listen 127.0.0.1:${port}; limit_rate ${bytesPerSecond}; location / { root ${join(tree, 'www')}; } }
}
`,
  );
  const server = spawn('nginx', ['-e', join(home, 'nginx-error.log'), '-c', conf], { stdio: 'ignore' });
  const ended = new Promise((done) => server.on('close', done));
  await listening(port);
  const host = `127.0.0.1:${port}`;
  return {
    url: `http://${host}`,
    /** Points the program at this server, whatever the tree says. */
    flags: ['--patch-url', `http://${host}`, '--cdn-host', host],
    /** Bytes of bodies sent so far. */
    async bytesSent() {
      await sleep(1500);
      const lines = fs.readFileSync(log, 'utf8').split('\n').filter(Boolean);
      return lines.reduce((sum, line) => sum + Number(line), 0);
    },
    async close() {
      server.kill('SIGTERM');
      await ended;
    },
  };
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

async function listening(port) {
  for (let tries = 0; tries < 250; tries++) {
    const open = await new Promise((done) => {
      const socket = connect(port, '127.0.0.1', () => done(true));
      socket.on('error', () => done(false));
      socket.on('connect', () => socket.destroy());
    });
    if (open) return;
    await sleep(20);
  }
  throw new Error(`nobody listens on port ${port}`);
}

/** Runs a program to its end: seconds, seconds of all processors, peak memory in MiB. Throws when it fails. */
export function measure(command, args, options = {}) {
  const started = performance.now();
  const { status, stderr } = spawnSync('/usr/bin/env', ['time', '-f', 'used %U %S %M', command, ...args], {
    stdio: ['ignore', options.output ?? 'ignore', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production', ...options.env },
    cwd: options.cwd,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  const seconds = (performance.now() - started) / 1000;
  const used = /used (\S+) (\S+) (\d+)/.exec(stderr ?? '');
  if (status !== 0 || used === null)
    throw new Error(`${command} ${args.slice(0, 3).join(' ')} …: exit ${status}\n${stderr}`);
  return { seconds, cpu: Number(used[1]) + Number(used[2]), mib: Number(used[3]) / 1024 };
}

/** Runs pakrat and measures it. */
export function pakrat(args) {
  return measure(process.execPath, [bin, ...args, '--quiet']);
}

/** Starts pakrat and kills it (-9) after some milliseconds, when it has not ended before. Gives back whether it was killed. */
export async function killedPakrat(args, ms) {
  const child = spawn(process.execPath, [bin, ...args, '--quiet'], { stdio: 'ignore' });
  const ended = new Promise((done) => child.on('close', done));
  await Promise.race([ended, sleep(ms)]);
  const running = child.exitCode === null;
  child.kill('SIGKILL');
  await ended;
  return running;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}
