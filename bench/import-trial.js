// A mirror taken into a store: 1.8 GB in 8 archives, and thousands of loose objects, beside copies that are checked and brought to disk.
//
//   node bench/run.js import
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then measured in turn with this one.
import * as fs from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { bin, fillMemory, makeTree, measure, median, summaryOf, twoGigabytes } from './parts.js';

const before = process.env.PAKRAT_BEFORE;
const cores = availableParallelism();

export async function importTrial({ work, reps, scale }) {
  const large = twoGigabytes(work, scale);
  fillMemory(work);
  trialOf('1.78 GB in 8 archives', large, { work, reps });
  const files = ['--files', String(Math.round(4000 / scale)), '--total-bytes', '33554432'];
  const small = makeTree(join(work, `loose-objects-${scale}`), [...files, '--loose', '1', '--patches', '0']);
  trialOf(`${summaryOf(small).loose} loose objects`, small, { work, reps });
}

function trialOf(name, tree, { work, reps }) {
  const runs = fs.mkdtempSync(join(work, 'import-runs-'));
  const mirror = join(tree, 'www');
  const imported = (program) => (to) =>
    measure(process.execPath, [program, 'import', mirror, '--store', to, '--offline', '--quiet']);
  const check = (to) => `find ${to} -type f -print0 | xargs -0 -P${cores} -n 5 md5sum`;
  const variants = {
    this: imported(bin),
    ...(before !== undefined && { before: imported(resolve(before)) }),
    'cp -r, md5sum on all cores, sync': (to) =>
      measure('sh', ['-c', `cp -r ${mirror} ${to} && ${check(to)} && sync -f ${to}`]),
  };
  const figures = Object.fromEntries(Object.keys(variants).map((variant) => [variant, []]));
  try {
    for (let rep = 0; rep < reps; rep++) {
      for (const [variant, run] of Object.entries(variants)) {
        figures[variant].push(run(join(runs, `${Object.keys(variants).indexOf(variant)}-${rep}`)));
      }
    }
  } finally {
    fs.rmSync(runs, { recursive: true });
  }
  const of = (variant, what) => median(figures[variant].map((run) => run[what]));
  console.log(`\n${name}, medians of ${reps}\n`);
  console.log('| | wall s | processor s | peak MiB | wall of this / this row |\n| --- | --- | --- | --- | --- |');
  for (const variant of Object.keys(variants)) {
    const ratio = (of('this', 'seconds') / of(variant, 'seconds')).toFixed(2);
    console.log(
      `| ${variant} | ${of(variant, 'seconds').toFixed(2)} | ${of(variant, 'cpu').toFixed(2)} | ${of(variant, 'mib').toFixed(0)} | ${ratio} |`,
    );
  }
}
