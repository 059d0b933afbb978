// Lists as large as those of today: 2,000,000 names imported, and one file by name out of a game folder with 200,000 loose files.
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then measured in turn with this one.
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { bigTree, bin, measure, median } from './parts.js';

const before = process.env.PAKRAT_BEFORE;
const programs = { this: bin, ...(before !== undefined && { before: resolve(before) }) };

/** Names imported into an empty store, and again with one line in a hundred changed, beside sort. */
export async function listfileTrial({ work, reps, scale }) {
  const list = join(bigTree(work, scale), 'listfile.csv');
  const runs = fs.mkdtempSync(join(work, 'listfile-runs-'));
  const changed = join(runs, 'changed.csv');
  const lines = fs.readFileSync(list, 'latin1').split('\n');
  for (let i = 0; i < lines.length - 1; i += 100) lines[i] += '2';
  fs.writeFileSync(changed, lines.join('\n'), 'latin1');
  const sort = (file) => ['env', ['LC_ALL=C', 'sort', '-o', join(runs, 'sorted'), file]];
  const stores = Object.fromEntries(Object.keys(programs).map((name) => [name, join(runs, name)]));
  const importOf = (file) =>
    Object.entries(programs).map(([name, program]) => ({
      name,
      run: () => measure(process.execPath, [program, 'listfile', 'import', file, '--store', stores[name], '--quiet']),
    }));
  const fresh = importOf(list).map(({ name, run }) => ({
    name,
    run: () => {
      fs.rmSync(stores[name], { recursive: true, force: true });
      return run();
    },
  }));
  try {
    report(
      {
        'listfile import': [...fresh, { name: 'sort', run: () => measure(...sort(list)) }, ...starts('sort')],
        // By turns the one list and the other: each differs from what is held in one line of a hundred.
        'listfile import, 1 % changed': [
          ...byTurns(importOf(changed), importOf(list)),
          { name: 'sort', run: () => measure(...sort(changed)) },
          ...starts('sort'),
        ],
      },
      reps,
    );
  } finally {
    fs.rmSync(runs, { recursive: true });
  }
}

function byTurns(odd, even) {
  return odd.map(({ name, run }, i) => {
    let turn = 0;
    return { name, run: () => (turn++ % 2 === 0 ? run() : even[i].run()) };
  });
}

/** One file by name out of many loose ones, the second time. */
export async function looseFilesTrial({ work, reps, scale }) {
  const game = join(work, `loose-${scale}`, 'id1');
  if (!fs.existsSync(join(game, 'pak0.pak'))) makeGame(game, Math.ceil(200 / scale));
  const name = 'maps/d001/file0500.bsp';
  const by = (args) =>
    Object.entries(programs).map(([program, path]) => ({
      name: program,
      run: () => measure(process.execPath, [path, ...args]),
    }));
  report(
    {
      'cat of one loose file': [...by(['cat', game, name]), ...starts('cat')],
      'the same in other case': by(['cat', game, name.toUpperCase()]),
      'ls of a folder': by(['ls', game, 'gfx']),
    },
    reps,
  );
}

/** Makes a folder of Quake with loose files. @param folders of 1000 files each */
export function makeGame(game, folders) {
  fs.mkdirSync(join(game, 'gfx'), { recursive: true });
  // Without it the engine opens no loose files in folders.
  fs.writeFileSync(join(game, 'gfx/pop.lmp'), Buffer.alloc(256));
  for (let i = 0; i < folders; i++) {
    const folder = join(game, 'maps', `d${String(i).padStart(3, '0')}`);
    fs.mkdirSync(folder, { recursive: true });
    for (let j = 0; j < 1000; j++)
      fs.writeFileSync(join(folder, `file${String(j).padStart(4, '0')}.bsp`), `${i} ${j}\n`);
  }
  // A PAK without files.
  fs.writeFileSync(join(game, 'pak0.pak'), Buffer.from('PACK\x0c\0\0\0\0\0\0\0', 'latin1'));
}

/** What it takes to start the programs, to be taken off both sides where a peer needs less than a second. */
function starts(peer) {
  return [
    { name: 'node -e 0', run: () => measure(process.execPath, ['-e', '0']) },
    { name: `${peer} --version`, run: () => measure(peer, ['--version']) },
  ];
}

function report(trials, reps) {
  console.log(
    '| | | wall s (least to most) | processor s (least to most) | peak MiB | processor, wall of this / this row |',
  );
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const [trial, variants] of Object.entries(trials)) {
    const figures = variants.map(() => []);
    for (let rep = 0; rep < reps; rep++) variants.forEach(({ run }, i) => void figures[i].push(run()));
    const of = (i, key) => figures[i].map((figure) => figure[key]);
    const spread = (all) =>
      `${median(all).toFixed(2)} (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)})`;
    const ratio = (i, key) => (median(of(0, key)) / Math.max(0.01, median(of(i, key)))).toFixed(2);
    variants.forEach(({ name }, i) => {
      const peak = Math.max(...of(i, 'mib')).toFixed(0);
      const ratios = `${ratio(i, 'cpu')}, ${ratio(i, 'seconds')}`;
      console.log(
        `| ${trial} | ${name} | ${spread(of(i, 'seconds'))} | ${spread(of(i, 'cpu'))} | ${peak} | ${ratios} |`,
      );
    });
  }
}
