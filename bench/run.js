// Runs trials, side by side with a peer that does the same work.
//
//   node bench/run.js                     lists the trials
//   node bench/run.js NAME…               runs these
//     --work DIR     keeps the trees for the next time (default: pakrat-bench in the folder for temporary files)
//     --reps N       how often each variant runs (default 5)
//     --scale N      trees N times smaller, to try a trial out: figures mean nothing then
//
// PAKRAT_BIN names another build. Trials want nginx, wrk, curl, aria2c, GNU time, python3 and the generator beside the conformance files.
import * as fs from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { trials } from './trials.js';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    work: { type: 'string', default: join(tmpdir(), 'pakrat-bench') },
    reps: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
  },
});
const unknown = positionals.filter((name) => !trials.some((trial) => trial.name === name));
if (unknown.length > 0 || positionals.length === 0) {
  for (const { name, shows } of trials) console.log(`${name.padEnd(12)} ${shows}`);
  if (unknown.length > 0) console.error(`There is no trial ${unknown.join(', ')}.`);
  process.exitCode = unknown.length > 0 ? 2 : 0;
} else {
  const work = resolve(values.work);
  fs.mkdirSync(work, { recursive: true });
  const machine = `${cpus().length} × ${cpus()[0].model.trim()}, Node ${process.version}`;
  for (const { name, run } of trials.filter((trial) => positionals.includes(trial.name))) {
    console.log(`\n## ${name}\n\n${new Date().toISOString().slice(0, 10)}, ${machine}\n`);
    await run({ work, reps: Number(values.reps), scale: Number(values.scale) });
  }
}
