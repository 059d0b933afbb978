// A sync of many loose objects: each is a file of its own, which waits for the disk.
//
//   node bench/run.js loose-objects
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then measured in turn with this one.
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { bin, makeTree, measure, median, startNginx, summaryOf } from './parts.js';

const before = process.env.PAKRAT_BEFORE;
const programs = { this: bin, ...(before !== undefined && { before: resolve(before) }) };

export async function looseObjectsTrial({ work, reps, scale }) {
  const files = Math.round(4000 / scale);
  const shape = ['--files', String(files), '--total-bytes', '33554432', '--loose', '1', '--patches', '0'];
  const tree = makeTree(join(work, `loose-objects-${scale}`), shape);
  const { loose } = summaryOf(tree);
  const runs = fs.mkdtempSync(join(work, 'loose-objects-runs-'));
  const server = await startNginx(tree, runs);
  const figures = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));
  try {
    for (let rep = 0; rep < reps; rep++) {
      for (const [name, program] of Object.entries(programs)) {
        const store = join(runs, `${name}-${rep}`);
        const args = [program, 'sync', 'wow', '--store', store, ...server.flags, '--quiet'];
        figures[name].push(measure(process.execPath, args));
        fs.rmSync(store, { recursive: true });
      }
    }
  } finally {
    await server.close();
    fs.rmSync(runs, { recursive: true });
  }
  console.log(`${loose} loose objects of two builds, one of which is synced; medians of ${reps}\n`);
  console.log('| | wall s | processor s | peak MiB | wall of this / this row |\n| --- | --- | --- | --- | --- |');
  const of = (name, what) => median(figures[name].map((run) => run[what]));
  for (const name of Object.keys(programs)) {
    const ratio = (of('this', 'seconds') / of(name, 'seconds')).toFixed(2);
    console.log(
      `| ${name} | ${of(name, 'seconds').toFixed(2)} | ${of(name, 'cpu').toFixed(2)} | ${of(name, 'mib').toFixed(0)} | ${ratio} |`,
    );
  }
}
