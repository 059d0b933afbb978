// 2 GB from two hosts that are 40 ms away and send 100 MB/s each, beside the wire alone: curl, which fetches half of the archives from each host and
// keeps nothing. The hosts are threads of this process, and take their part of the processors from both.
//
//   node bench/run.js two-hosts
import * as fs from 'node:fs';
import { join } from 'node:path';
import { archivesOf, bin, fillMemory, measure, median, twoGigabytes } from './parts.js';
import { slowHost } from './slow-host.js';

const latencyMs = 40;
const bytesPerSecond = 100e6;

export async function twoHostsTrial({ work, reps, scale }) {
  const tree = twoGigabytes(work, scale);
  const archives = archivesOf(tree, 'a');
  const bytes = archives.reduce((sum, { size }) => sum + size, 0);
  const runs = fs.mkdtempSync(join(work, 'two-hosts-runs-'));
  const hosts = await Promise.all([0, 1].map(() => slowHost(join(tree, 'www'), latencyMs, bytesPerSecond)));
  try {
    const flags = hosts.flatMap(({ url }) => ['--cdn-host', url.slice('http://'.length)]);
    const sync = (store) =>
      measure(process.execPath, [
        bin,
        'sync',
        'wow_old',
        '--quiet',
        '--store',
        store,
        '--patch-url',
        hosts[0].url,
        ...flags,
      ]);
    const config = join(runs, 'curl.conf');
    fs.writeFileSync(config, curlConfig(archives, hosts));
    // What a run leaves stays until all are done.
    fillMemory(work);
    const results = { pakrat: [], 'the wire alone (curl)': [] };
    for (let rep = 0; rep < reps; rep++) {
      results.pakrat.push(sync(join(runs, `store-${rep}`)));
      results['the wire alone (curl)'].push(
        measure('curl', ['-s', '--fail', '-Z', '--parallel-max', '8', '-K', config]),
      );
    }
    const of = (name, what) => median(results[name].map((result) => result[what]));
    console.log(
      `${(bytes / 1e9).toFixed(2)} GB, two hosts of ${bytesPerSecond / 1e6} MB/s, ${latencyMs} ms, medians of ${reps}\n`,
    );
    console.log('| | wall s (least to most) | MB/s | processor s | peak MiB |\n| --- | --- | --- | --- | --- |');
    for (const [name, list] of Object.entries(results)) {
      const walls = list.map(({ seconds }) => seconds);
      const span = `${Math.min(...walls).toFixed(2)} to ${Math.max(...walls).toFixed(2)}`;
      const rate = (bytes / 1e6 / of(name, 'seconds')).toFixed(0);
      console.log(
        `| ${name} | ${of(name, 'seconds').toFixed(2)} (${span}) | ${rate} | ${of(name, 'cpu').toFixed(2)} | ${of(name, 'mib').toFixed(0)} |`,
      );
    }
    console.log(
      `\nRatio ${(of('pakrat', 'seconds') / of('the wire alone (curl)', 'seconds')).toFixed(2)}, asked 1.05.`,
    );
  } finally {
    await Promise.all(hosts.map((host) => host.close()));
    fs.rmSync(runs, { recursive: true });
  }
}

/** Halves of every archive, one from each host, so that both have the same to do. */
function curlConfig(archives, hosts) {
  return archives
    .flatMap(({ path, size }) => {
      const half = Math.floor(size / 2);
      return [
        `url = "${hosts[0].url}/${path}"\nrange = "0-${half - 1}"\noutput = "/dev/null"\nnext\n`,
        `url = "${hosts[1].url}/${path}"\nrange = "${half}-${size - 1}"\noutput = "/dev/null"\nnext\n`,
      ];
    })
    .join('')
    .replace(/next\n$/, '');
}
