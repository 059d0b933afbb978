// A game folder with 300,000 files mounted, and gone through with find and ls -R. Wants FUSE (/dev/fuse, fuse-native) and the right to unmount.
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then measured in turn with this one.
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeGame } from './lists-trials.js';
import { bin, median } from './parts.js';

const before = process.env.PAKRAT_BEFORE;
const programs = { this: bin, ...(before !== undefined && { before: resolve(before) }) };

export async function mountTrial({ work, reps, scale }) {
  const game = join(work, `mounted-${scale}`, 'id1');
  if (!fs.existsSync(join(game, 'pak0.pak'))) makeGame(game, Math.ceil(300 / scale));
  const folder = fs.mkdtempSync(join(work, 'mount-'));
  const figures = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));
  for (let rep = 0; rep < reps; rep++) {
    for (const [name, program] of Object.entries(programs)) figures[name].push(await oneMount(program, game, folder));
  }
  fs.rmdirSync(folder);
  console.log('| | mount s | find s | ls -R s | processor s of pakrat | peak MiB |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  const of = (name, key) => median(figures[name].map((figure) => figure[key]));
  for (const name of Object.keys(programs)) {
    const [mount, find, list, cpu] = ['mount', 'find', 'list', 'cpu'].map((key) => of(name, key).toFixed(2));
    const peak = Math.max(...figures[name].map(({ mib }) => mib)).toFixed(0);
    console.log(`| ${name} | ${mount} | ${find} | ${list} | ${cpu} | ${peak} |`);
  }
}

async function oneMount(program, game, folder) {
  const args = ['time', '-f', 'used %U %S %M', process.execPath, program, 'mount', game, folder];
  const started = performance.now();
  const child = spawn('/usr/bin/env', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  child.stderr.on('data', (piece) => {
    told += piece;
  });
  const ended = new Promise((done) => child.on('close', done));
  while (!fs.readFileSync('/proc/self/mounts', 'utf8').includes(` ${folder} `)) {
    if (child.exitCode !== null) throw new Error(`it was not mounted: ${told}`);
    await sleep(20);
  }
  const mount = (performance.now() - started) / 1000;
  const [find, list] = [seconds('find', [folder]), seconds('ls', ['-R', folder])];
  spawnSync('umount', [folder], { stdio: 'inherit' });
  await ended;
  const [, user, system, kib] = /used (\S+) (\S+) (\d+)/.exec(told) ?? [];
  return { mount, find, list, cpu: Number(user) + Number(system), mib: Number(kib) / 1024 };
}

function seconds(command, args) {
  const started = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${status}`);
  return (performance.now() - started) / 1000;
}
