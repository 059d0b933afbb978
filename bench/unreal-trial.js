// Unreal PAKs of 1,000,000 tiny files: all of them checked and compared, and one read by its name, in each form of the index, and in the folder of a game.
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then measured in turn with this one.
import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { bin, measure, median } from './parts.js';
import { forms, nameOf, writeUnrealPak } from './unreal-paks.js';

export async function unrealTrial({ work, reps, scale }) {
  const count = Math.round(1e6 / scale);
  const folder = join(work, `unreal-${scale}`);
  fs.mkdirSync(folder, { recursive: true });
  console.log(`${count} files of 10 to 300 bytes, every eighth compressed\n`);
  console.log('| | | wall s | processor s (least to most) | peak MiB | processor of this / this row |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const [form, shape] of Object.entries(forms)) {
    const pak = join(folder, `${form.replaceAll(/\W+/g, '-')}.pak`);
    if (!fs.existsSync(pak)) writeUnrealPak(pak, shape, count);
    const by = (args) => [...variants(args), { name: 'sha1sum', run: () => measure('sha1sum', [pak]) }];
    const compare = (what, source, name) => {
      report(`${what}: verify`, by(['verify', source]), reps);
      report(`${what}: cat`, by(['cat', source, name]), reps);
      report(`${what}: info`, by(['info', source]), reps);
      report(`${what}: diff with itself`, by(['diff', source, source]), reps);
    };
    const name = nameOf(Math.round(count * 0.748));
    compare(form, pak, name);
    if (form === 'version 11') compare('a Paks folder with it', paksFolder(folder, pak), `Game/${name}`);
    // Hashes alone have no folders.
    if (shape.hashes && !shape.directory) continue;
    report(`${form}: ls of a folder`, by(['ls', pak, `${dirname(nameOf(count - 1))}/`]), reps);
  }
}

/** A game's folder with a PAK in it: its names have the mount point in front. */
function paksFolder(folder, pak) {
  const paks = join(folder, 'Game/Content/Paks');
  fs.mkdirSync(paks, { recursive: true });
  const link = join(paks, 'pakchunk0.pak');
  if (!fs.existsSync(link)) fs.linkSync(pak, link);
  return paks;
}

function variants(args) {
  const before = process.env.PAKRAT_BEFORE;
  const programs = { this: bin, ...(before !== undefined && { before: resolve(before) }) };
  return Object.entries(programs).map(([name, program]) => ({
    name,
    run: () => measure(process.execPath, [program, ...args, '--quiet']),
  }));
}

function report(trial, all, reps) {
  const figures = all.map(() => []);
  for (let rep = 0; rep < reps; rep++) all.forEach(({ run }, i) => void figures[i].push(run()));
  const cpus = figures.map((runs) => runs.map(({ cpu }) => cpu));
  all.forEach(({ name }, i) => {
    const wall = median(figures[i].map(({ seconds }) => seconds)).toFixed(2);
    const spread = `${median(cpus[i]).toFixed(2)} (${Math.min(...cpus[i]).toFixed(2)} to ${Math.max(...cpus[i]).toFixed(2)})`;
    const peak = Math.max(...figures[i].map(({ mib }) => mib)).toFixed(0);
    const ratio = (median(cpus[0]) / median(cpus[i])).toFixed(2);
    console.log(`| ${trial} | ${name} | ${wall} | ${spread} | ${peak} | ${ratio} |`);
  });
}
