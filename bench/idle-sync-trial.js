// A sync that has nothing to do, in a store with 500 builds and 50,000 archives, beside one in a store with the live build alone.
//
//   node bench/run.js idle-sync
//
// The builds are published and synced one after the other, as many-builds.js does it, and are small. What lacks to 50,000 archives is added to the
// ledger as rows, held in part in some spans each: no files lie behind them.
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { makeBuilds } from './many-builds.js';
import { bin, measure, median, pakrat, startNginx } from './parts.js';

const Database = createRequire(import.meta.url)('better-sqlite3');

export async function idleSyncTrial({ work, reps, scale }) {
  const count = (value) => Math.max(2, Math.round(value / scale));
  const folder = join(work, `idle-sync-${scale}`);
  await makeBuilds(folder, { builds: count(500), files: 200 });
  const many = join(folder, 'store');
  const rows = addArchives(join(many, 'ledger.db'), count(50_000));
  const server = await startNginx(folder, folder);
  try {
    // The versions that are published name the port of another day.
    const one = join(folder, 'one');
    const sync = (store) => ['sync', 'small', '--store', store, ...server.flags];
    pakrat(sync(one));
    const variants = {
      [`${count(500)} builds, ${rows} archives`]: () => pakrat(sync(many)),
      'one build': () => pakrat(sync(one)),
      '--version': () => measure(process.execPath, [bin, '--version']),
    };
    for (const run of Object.values(variants)) run();
    const results = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
    for (let rep = 0; rep < 2 * reps; rep++)
      for (const [name, run] of Object.entries(variants)) results[name].push(run());
    console.log(
      `medians of ${2 * reps}\n\n| | wall s | processor s | peak MiB | over one build: wall, processor (asked 2) |\n|---|---|---|---|---|`,
    );
    const of = (name, what) => median(results[name].map((result) => result[what]));
    for (const name of Object.keys(variants)) {
      const over = (what) => (of(name, what) / of('one build', what)).toFixed(2);
      console.log(
        `| ${name} | ${of(name, 'seconds').toFixed(2)} | ${of(name, 'cpu').toFixed(2)} | ${of(name, 'mib').toFixed(0)} | ${over('seconds')}, ${over('cpu')} |`,
      );
    }
  } finally {
    await server.close();
  }
}

/** Adds archives to a ledger until it has so many objects. @returns how many data objects it has */
function addArchives(file, wanted) {
  const db = new Database(file);
  try {
    const have = () =>
      db.prepare("SELECT count(*) AS n FROM objects WHERE path LIKE '%/data/%' AND path NOT LIKE '%.index'").get().n;
    const object = db.prepare('INSERT INTO objects (path, size, complete, time) VALUES (?, ?, 0, ?)');
    const span = db.prepare('INSERT INTO spans VALUES (?, ?, ?)');
    db.transaction((lacking) => {
      for (let i = 0; i < lacking; i++) {
        const hash = randomBytes(16).toString('hex');
        const path = `tpr/small/data/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
        const { lastInsertRowid } = object.run(path, 268_435_456, Date.now());
        for (let at = 0; at < 10; at++) span.run(lastInsertRowid, at * 20_000_000, at * 20_000_000 + 5_000_000);
      }
    })(Math.max(0, wanted - have()));
    return have();
  } finally {
    db.close();
  }
}
