// A full store served warm, by pakrat and by nginx with one worker a core, over the same files: large ranges, and 64 KiB ones.
//
// wrk asks, with one thread. Both servers run all the time and are measured in turn, for a machine that is busy is so for both.
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { archivesOf, bin, makeTree, median, pakrat, startNginx } from './parts.js';

const mebibyte = 1024 * 1024;
const seconds = 4;

export async function serveTrial({ work, reps, scale }) {
  const bytes = Math.round((600 * mebibyte) / scale);
  const tree = makeTree(join(work, `served-${scale}`), [
    '--files',
    '600',
    '--total-bytes',
    String(bytes),
    '--archive-max',
    '256M',
    '--per-archive',
    '300',
    '--zlevel',
    '1',
  ]);
  const runs = fs.mkdtempSync(join(work, 'serve-runs-'));
  const store = join(runs, 'store');
  fs.mkdirSync(store);
  pakrat(['import', join(tree, 'www'), '--store', store]);
  // nginx serves the folder of a tree: the store is in the place of it.
  fs.symlinkSync(store, join(runs, 'www'));
  const nginx = await startNginx(runs, runs, 0, 'auto');
  const own = await startServe(store);
  const archives = archivesOf(tree, 'a').filter(({ path }) => fs.existsSync(join(store, path)));
  const kinds = [
    { name: 'ranges of 16 MiB, 4 connections: GB/s', size: 16 * mebibyte, connections: 4, unit: 'bytes' },
    { name: 'ranges of 64 KiB, 16 connections: requests/s', size: 65536, connections: 16, unit: 'requests' },
  ];
  console.log('| | nginx | pakrat | ratio |\n| --- | --- | --- | --- |');
  try {
    for (const { name, size, connections, unit } of kinds) {
      const script = join(runs, `${unit}.lua`);
      fs.writeFileSync(script, luaOf(archives, size));
      const rates = [nginx.url, own.url].map(() => []);
      // Once before, so that what is read is in memory.
      for (const url of [nginx.url, own.url]) wrk(url, script, connections, 1);
      for (let rep = 0; rep < reps; rep++)
        for (const [i, url] of [nginx.url, own.url].entries()) rates[i].push(wrk(url, script, connections)[unit]);
      const ratio = median(rates[0].map((rate, i) => rates[1][i] / rate));
      const shown = rates.map((list) => (unit === 'bytes' ? (median(list) / 1e9).toFixed(2) : median(list).toFixed(0)));
      console.log(`| ${name} | ${shown.join(' | ')} | ${ratio.toFixed(2)} |`);
    }
  } finally {
    await own.close();
    await nginx.close();
    fs.rmSync(runs, { recursive: true });
  }
}

/** Asks for random ranges that lie in an archive. */
function luaOf(archives, size) {
  const rows = archives.filter((archive) => archive.size > size).map(({ path, size: all }) => `{"/${path}", ${all}}`);
  return `local archives = { ${rows.join(', ')} }
request = function()
  local archive = archives[math.random(#archives)]
  local start = math.random(0, archive[2] - ${size})
  wrk.headers["Range"] = "bytes=" .. start .. "-" .. (start + ${size} - 1)
  return wrk.format("GET", archive[1])
end
done = function(summary, latency)
  local bad = summary.errors.status + summary.errors.read + summary.errors.connect
  io.write("figures ", summary.requests, " ", summary.bytes, " ", summary.duration, " ", bad, "\\n")
end
`;
}

function wrk(url, script, connections, time = seconds) {
  const args = ['-t1', `-c${connections}`, `-d${time}s`, '--timeout', '30s', '-s', script, url];
  const { stdout, status, stderr } = spawnSync('wrk', args, { encoding: 'utf8' });
  const found = /figures (\d+) (\d+) (\d+) (\d+)/.exec(stdout ?? '');
  if (status !== 0 || found === null || found[4] !== '0') throw new Error(`wrk: ${stderr}${stdout}`);
  const [requests, bytes, microseconds] = found.slice(1).map(Number);
  return { requests: (requests / microseconds) * 1e6, bytes: (bytes / microseconds) * 1e6 };
}

async function startServe(store) {
  const child = spawn(process.execPath, [bin, 'serve', '--store', store, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const ended = new Promise((done) => child.on('close', done));
  let text = '';
  await new Promise((done) => {
    child.on('close', done);
    child.stdout.on('data', (piece) => {
      text += piece;
      if (text.includes('\n')) done();
    });
  });
  const { url } = JSON.parse(text.split('\n')[0]);
  return {
    url,
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
