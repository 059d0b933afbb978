// Names of a build of 2,000,000 files in a store that has its manifests and the list of names: some of them, all of them, and two builds compared.
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then measured in turn with this one.
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { bin, makeTree, measure, median, pakrat, startNginx } from './parts.js';

export async function namesTrial({ work, reps, scale }) {
  const count = (value) => String(Math.round(value / scale));
  const smaller = ['--files', count(2e6), '--per-archive', '3000', '--foreign', count(1e6), '--archives', count(1000)];
  const tree = makeTree(join(work, `big-build-${scale}`), ['--preset', 'wow', ...(scale === 1 ? [] : smaller)]);
  const runs = fs.mkdtempSync(join(work, 'names-runs-'));
  const store = join(runs, 'store');
  const server = await startNginx(tree, runs);
  try {
    pakrat(['listfile', 'import', join(tree, 'listfile.csv'), '--store', store]);
    for (const product of ['wow', 'wow_old']) pakrat(['ls', product, '--store', store, ...server.flags]);
  } finally {
    await server.close();
  }
  try {
    report(variantsOf({ tree, store }), reps);
  } finally {
    fs.rmSync(runs, { recursive: true });
  }
}

function variantsOf({ tree, store }) {
  const before = process.env.PAKRAT_BEFORE;
  const programs = { this: bin, ...(before !== undefined && { before: resolve(before) }) };
  const by = (args) =>
    Object.entries(programs).map(([name, program]) => ({
      name,
      run: () => measure(process.execPath, [program, ...args, '--store', store, '--offline', '--quiet']),
    }));
  const bare = { name: 'node -e 0', run: () => measure(process.execPath, ['-e', '0']) };
  // Into a pipe: where nobody reads, grep ends at the first line that it finds.
  const line = `cut -d';' -f2- '${join(tree, 'listfile.csv')}' > '${store}.txt'; grep -c x '${store}.txt' | cat`;
  measure('sh', ['-c', line]);
  const grep = {
    name: 'grep -c',
    run: () => measure('sh', ['-c', `grep -c 'world/maps/zone034/.*5791' '${store}.txt' | cat`]),
  };
  return {
    "ls 'world/maps/zone034/*5791*'": [...by(['ls', 'wow', 'world/maps/zone034/*5791*']), bare, grep],
    'ls, the folders at the top': [...by(['ls', 'wow']), bare],
    'ls world/maps, 40 folders': [...by(['ls', 'wow', 'world/maps']), bare],
    'ls world/maps/zone034, a folder of files alone': [...by(['ls', 'wow', 'world/maps/zone034']), bare],
    'ls -R, all names': by(['ls', 'wow', '-R']),
    'diff of both builds': by(['diff', 'wow_old', 'wow']),
  };
}

function report(trials, reps) {
  console.log('| | | wall s | processor s (least to most) | peak MiB | processor of this / this row |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const [trial, variants] of Object.entries(trials)) {
    const figures = variants.map(() => []);
    for (let rep = 0; rep < reps; rep++) variants.forEach(({ run }, i) => void figures[i].push(run()));
    const cpus = figures.map((all) => all.map(({ cpu }) => cpu));
    variants.forEach(({ name }, i) => {
      const wall = median(figures[i].map(({ seconds }) => seconds)).toFixed(2);
      const spread = `${median(cpus[i]).toFixed(2)} (${Math.min(...cpus[i]).toFixed(2)} to ${Math.max(...cpus[i]).toFixed(2)})`;
      const peak = Math.max(...figures[i].map(({ mib }) => mib)).toFixed(0);
      const ratio = (median(cpus[0]) / median(cpus[i])).toFixed(2);
      console.log(`| ${trial} | ${name} | ${wall} | ${spread} | ${peak} | ${ratio} |`);
    });
  }
}
