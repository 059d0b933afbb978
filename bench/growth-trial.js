// How costs grow: the processor time of commands on builds with 1, 4 and 16 times as many entries, and 1 and 4 times as many archives. Writes
// growth.svg beside this file.
//
//   node bench/run.js growth
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { growthPlot } from './growth-plot.js';
import { bin, makeTree, measure, median, pakrat, startNginx } from './parts.js';

/** Entries, and the archives that they lie in. */
const sizes = [
  { entries: 20_000, archives: 50 },
  { entries: 80_000, archives: 50 },
  { entries: 320_000, archives: 50 },
  { entries: 80_000, archives: 200 },
];

export async function growthTrial({ work, reps, scale }) {
  const points = [];
  for (const { entries, archives } of sizes) {
    const count = Math.round(entries / scale);
    const name = `growth-${count}-${archives}`;
    const still =
      '--tiny --no-encrypt --localized 0 --lowviolence 0 --multi-ekey 0 --changed 0 --added 0 --removed 0 --patches 0';
    const shape = [
      '--files',
      String(count),
      '--archives',
      String(archives),
      '--per-archive',
      String(Math.ceil(count / archives)),
    ];
    const tree = makeTree(join(work, name), [...shape, ...still.split(' ')]);
    points.push({ entries: count, archives, ...(await measureTree(tree, join(work, `${name}-runs`), reps)) });
  }
  const commands = Object.keys(points[0]).filter((key) => !['entries', 'archives'].includes(key));
  const start = median(Array.from({ length: 2 * reps }, () => measure(process.execPath, [bin, '--version']).cpu));
  show(points, commands, start);
  if (scale === 1) {
    const file = join(dirname(fileURLToPath(import.meta.url)), 'growth.svg');
    fs.writeFileSync(file, growthPlot(points.slice(0, 3), commands, { x: 'entries', start }));
  }
}

/** Processor seconds of each command on a tree, in turn. */
async function measureTree(tree, runs, reps) {
  fs.rmSync(runs, { recursive: true, force: true });
  fs.mkdirSync(runs, { recursive: true });
  const server = await startNginx(tree, runs);
  const store = (rep) => ['--store', join(runs, `store-${rep}`)];
  const name = nameOf(tree);
  const results = {};
  const note = (what, { cpu }) => {
    results[what] = [...(results[what] ?? []), cpu];
  };
  try {
    for (let rep = 0; rep < reps; rep++) {
      const online = [...store(rep), ...server.flags];
      note('sync', pakrat(['sync', 'wow_old', ...online]));
      note('sync, nothing to do', pakrat(['sync', 'wow_old', ...online]));
      pakrat(['sync', 'wow_old', '--dry-run', '--store', join(runs, 'dry'), ...server.flags]);
      note(
        'dry run, indices there',
        pakrat(['sync', 'wow_old', '--dry-run', '--store', join(runs, 'dry'), ...server.flags]),
      );
      note('verify', pakrat(['verify', ...store(rep), '--offline']));
      note('ls -R', pakrat(['ls', 'wow_old', '-R', ...store(rep), '--offline']));
      note('cat of one name', pakrat(['cat', 'wow_old', name, ...store(rep), '--offline']));
    }
  } finally {
    await server.close();
    fs.rmSync(runs, { recursive: true });
  }
  return Object.fromEntries(Object.entries(results).map(([what, list]) => [what, median(list)]));
}

/** A file in the middle of the truth table that the root knows by its name. */
function nameOf(tree) {
  const rows = fs
    .readFileSync(join(tree, 'truth/build-a.tsv'), 'utf8')
    .split('\n')
    .map((line) => line.split('\t'));
  const named = rows.slice(1).filter((row) => row.length > 1 && row.at(-1) !== '-' && row[2] === '-');
  return named[Math.floor(named.length / 2)][1];
}

/** By what power of the entries a cost grows, less the start of the program. */
function power(points, command, start) {
  const [first, last] = [points[0], points[2]];
  const own = (point) => Math.max(point[command] - start, 0.01);
  return Math.log(own(last) / own(first)) / Math.log(last.entries / first.entries);
}

function show(points, commands, start) {
  console.log(`Processor seconds, medians; --version takes ${start.toFixed(2)}\n`);
  const heads = points.map(({ entries, archives }) => `${entries} entries, ${archives} archives`);
  console.log(`| | ${heads.join(' | ')} | power of entries, less the start | 4 times the archives |`);
  console.log(`|---|${'---|'.repeat(points.length + 2)}`);
  for (const command of commands) {
    const cells = points.map((point) => point[command].toFixed(2));
    const archives = (points[3][command] / points[1][command]).toFixed(2);
    console.log(`| ${command} | ${cells.join(' | ')} | ${power(points, command, start).toFixed(2)} | ${archives} |`);
  }
}
