// Small entries that lie apart in large archives, from a host that is 20 ms away: beside one request an entry, with the same client and as many
// connections. Both stores have the indices before the clock starts.
//
//   node bench/run.js scatter

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { bin, makeTree, measure, median } from './parts.js';
import { slowHost } from './slow-host.js';

const latencyMs = 20;
/** One file in five is wanted: those whose numbers end so. They are spread without a rule, so that gaps are of any length. */
const endings = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0'))
  .sort((a, b) => (digest(a) < digest(b) ? -1 : 1))
  .slice(0, 20);

export async function scatterTrial({ work, reps, scale }) {
  const tree = scattered(work, scale);
  const runs = fs.mkdtempSync(join(work, 'scatter-runs-'));
  const host = await slowHost(join(tree, 'www'), latencyMs);
  try {
    const config = join(runs, 'one-each.json');
    fs.writeFileSync(config, JSON.stringify({ sync: { gapBytes: 0 } }));
    const variants = { pakrat: {}, 'one request an entry': { PAKRAT_CONFIG: config } };
    const results = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
    for (let rep = 0; rep < reps; rep++) {
      for (const [name, env] of Object.entries(variants))
        results[name].push(run(join(runs, `${name}-${rep}`), host, env));
    }
    show(results, reps);
  } finally {
    await host.close();
    fs.rmSync(runs, { recursive: true });
  }
}

/** 100,000 files of 8.7 KB on average, stored as they are, in archives of 256 MB. */
function scattered(work, scale) {
  const count = (value) => String(Math.round(value / scale));
  const plain =
    '--zlevel 0 --raw-z --no-encrypt --noname 0 --empty 0 --loose 0 --multi-ekey 0 --localized 0 --lowviolence 0';
  const still = '--changed 0 --added 0 --removed 0 --patches 0';
  const sizes = [
    '--total-bytes',
    count(1.4e9),
    '--max-file',
    '24000',
    '--archive-max',
    '256M',
    '--per-archive',
    '100000',
  ];
  const options = [...sizes, ...`${plain} ${still}`.split(' ')];
  return makeTree(join(work, `scatter-${scale}`), [
    '--files',
    count(100_000),
    '--archives',
    '4',
    '--layout',
    'tvfs',
    ...options,
  ]);
}

function run(store, host, env) {
  const globs = endings.flatMap((ending) => ['--include', `**/*${ending}.*`]);
  const at = ['--store', store, '--patch-url', host.url, '--cdn-host', host.url.slice('http://'.length), '--json'];
  const sync = (...more) => [bin, 'sync', 'wow_old', ...globs, ...at, ...more];
  const planned = spawnSync(process.execPath, sync('--dry-run'), { encoding: 'utf8', env: { ...process.env, ...env } });
  if (planned.status !== 0) throw new Error(planned.stderr);
  const out = fs.openSync(join(store, 'answer.json'), 'w');
  const { seconds, cpu, mib } = measure(process.execPath, sync(), { output: out, env });
  fs.closeSync(out);
  const { fetched } = JSON.parse(fs.readFileSync(join(store, 'answer.json'), 'utf8'));
  fs.rmSync(store, { recursive: true });
  return { seconds, cpu, mib, fetched };
}

function show(results, reps) {
  const [{ fetched }] = results.pakrat;
  const bytes = (fetched.bytes / fetched.entries / 1e3).toFixed(1);
  console.log(`${fetched.entries} entries of ${bytes} KB, ${latencyMs} ms, medians of ${reps}\n`);
  console.log('| | wall s | processor s | requests | MiB | wall over one request an entry (asked 0.15) |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  const of = (name, what) => median(results[name].map((result) => result[what]));
  for (const [name, [first]] of Object.entries(results)) {
    const ratio = (of(name, 'seconds') / of('one request an entry', 'seconds')).toFixed(2);
    const cells = [
      of(name, 'seconds').toFixed(2),
      of(name, 'cpu').toFixed(2),
      first.fetched.requests,
      of(name, 'mib').toFixed(0),
    ];
    console.log(`| ${name} | ${cells.join(' | ')} | ${ratio} |`);
  }
}

function digest(text) {
  return createHash('md5').update(text).digest('hex');
}
