// What it takes to find out what to do, at the size of the largest builds: a sync with nothing to do, a dry run, the archive group, and a whole
// sync beside its dry run and bare tools that fetch and hash the same archives.
//
// PAKRAT_BEFORE names the bin/run.js of another build, which is then measured in turn with this one.
import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { archivesOf, bigTree, bin, measure, median, startNginx } from './parts.js';
import { slowHost } from './slow-host.js';

export async function planTrial({ work, reps, scale }) {
  const tree = bigTree(work, scale);
  const before = process.env.PAKRAT_BEFORE;
  const bins = { this: bin, ...(before && { before: resolve(before) }) };
  const runs = fs.mkdtempSync(join(work, 'plan-runs-'));
  const server = await startNginx(tree, runs);
  try {
    console.log('| | program | wall s | processor s | peak MiB |\n| --- | --- | --- | --- | --- |');
    const sync = (program, store, ...more) =>
      measure(process.execPath, [program, 'sync', 'wow', '--quiet', '--store', join(runs, store), ...more]);
    const dry = inTurn(bins, Math.min(reps, 2), (program, which, rep) =>
      sync(program, `fresh-${which}-${rep}`, '--dry-run', ...server.flags),
    );
    show('dry run, the first time in a store', dry);
    show(
      'dry run, again',
      inTurn(bins, reps, (program, which) => sync(program, `fresh-${which}-0`, '--dry-run', ...server.flags)),
    );
    const whole = inTurn(bins, 1, (program, which) => sync(program, which, ...server.flags));
    show('sync of all', whole);
    const bare = measureBare(tree, server, runs);
    show('curl -Z of the archives, then md5sum', { 'curl, md5sum': [bare] });
    const bound = (which) => dry[which][0].seconds + 4 * bare.seconds;
    for (const which of Object.keys(bins))
      console.log(
        `| sync over its dry run and 4 × the tools (asked 1) | ${which} | ${ratio(whole[which][0].seconds, bound(which))} | | |`,
      );
    const idle = inTurn(bins, reps, (program, which) => sync(program, which, ...server.flags));
    show('sync with nothing to do', idle);
    const version = { this: range(reps).map(() => measure(process.execPath, [bin, '--version'])) };
    show('--version', version);
    for (const which of Object.keys(bins))
      console.log(
        `| nothing to do over --version (asked 4) | ${which} | ${ratio(...['seconds', 'seconds'].map((key, i) => of([idle[which], version.this][i], key)))} | ${ratio(of(idle[which], 'cpu'), of(version.this, 'cpu'))} | |`,
      );
    const indices = join(runs, 'this', 'tpr/wow/data');
    const group = range(reps).flatMap(() => [measureGroup(indices, 'group'), measureGroup(indices, 'md5')]);
    show('archive group of all indices, each checked', { this: group.filter((_, i) => i % 2 === 0) });
    show('reading the same files, and MD5', { node: group.filter((_, i) => i % 2 === 1) });
  } finally {
    await server.close();
    fs.rmSync(runs, { recursive: true });
  }
}

const latencyMs = 20;

/** Indices from a host that answers after a while: opening a build for the first time, beside curl with 3 connections, and with as many as ours. */
export async function latencyTrial({ work, reps, scale }) {
  const tree = bigTree(work, scale);
  const runs = fs.mkdtempSync(join(work, 'latency-runs-'));
  const host = await slowHost(join(tree, 'www'), latencyMs);
  try {
    const flags = ['--patch-url', host.url, '--cdn-host', host.url.slice('http://'.length)];
    const urls = archivesOf(tree, 'b').map(
      ({ hash, path }) => `url = "${host.url}/${path}.index"\noutput = "${hash}"\n`,
    );
    fs.writeFileSync(join(runs, 'curl.conf'), urls.join(''));
    const curl = (connections) =>
      measure('curl', ['-s', '--fail', '-Z', '--parallel-max', connections, '-K', 'curl.conf'], { cwd: runs }).seconds;
    const seconds = { first: [], again: [], indices: [], curl: [], wire: [] };
    for (const rep of range(reps)) {
      const dry = () =>
        measure(process.execPath, [
          bin,
          'sync',
          'wow',
          '--dry-run',
          '--quiet',
          '--store',
          join(runs, `store-${rep}`),
          ...flags,
        ]);
      // What curl asked for before is not ours.
      await host.indexSeconds();
      seconds.first.push(dry().seconds);
      seconds.indices.push(await host.indexSeconds());
      seconds.again.push(dry().seconds);
      seconds.curl.push(curl('3'));
      seconds.wire.push(curl('32'));
    }
    const [first, again, indices] = [seconds.first, seconds.again, seconds.indices].map(median);
    const [three, wire] = [seconds.curl, seconds.wire].map(median);
    console.log(`${urls.length} indices, ${latencyMs} ms each, medians of ${reps}\n`);
    console.log('| | wall s |\n| --- | --- |');
    console.log(`| dry run that fetches them | ${first.toFixed(2)} |\n| dry run that has them | ${again.toFixed(2)} |`);
    console.log(`| its indices, from the first request to the last answer | ${indices.toFixed(2)} |`);
    console.log(`| curl, 3 connections | ${three.toFixed(2)} |\n| curl, 32 connections | ${wire.toFixed(2)} |`);
    console.log(
      `| the indices over curl with 3 (asked 0.1), with 32 | ${ratio(indices, three)}, ${ratio(indices, wire)} |`,
    );
  } finally {
    await host.close();
    fs.rmSync(runs, { recursive: true });
  }
}

const range = (count) => Array.from({ length: count }, (_, i) => i);
const of = (results, key) => median(results.map((result) => result[key]));
const ratio = (ours, peers) => (ours / peers).toFixed(2);

/** Results of each program, run in turn. */
function inTurn(bins, reps, run) {
  const results = Object.fromEntries(Object.keys(bins).map((which) => [which, []]));
  for (const rep of range(reps))
    for (const which of Object.keys(bins)) results[which].push(run(bins[which], which, rep));
  return results;
}

function show(what, results) {
  for (const [which, list] of Object.entries(results))
    console.log(
      `| ${what} | ${which} | ${of(list, 'seconds').toFixed(2)} | ${of(list, 'cpu').toFixed(2)} | ${of(list, 'mib').toFixed(0)} |`,
    );
}

function measureBare(tree, { url }, runs) {
  const to = fs.mkdtempSync(join(runs, 'curl-'));
  const archives = archivesOf(tree, 'b');
  const lines = archives.map(({ hash, path }) => `url = "${url}/${path}"\noutput = "${hash}"\n`);
  fs.writeFileSync(join(to, 'curl.conf'), lines.join(''));
  return measure('sh', ['-c', 'curl -s --fail -Z --parallel-max 8 -K curl.conf && md5sum -- [0-9a-f]* > sums'], {
    cwd: to,
  });
}

/** Merges indices below a folder by the side door for formats, or only reads and hashes them. */
function measureGroup(folder, how) {
  const formats = pathToFileURL(join(dirname(bin), '../dist/formats.js')).href;
  const program = `
    import * as fs from 'node:fs';
    import { createHash } from 'node:crypto';
    const names = fs.readdirSync(${JSON.stringify(folder)}, { recursive: true }).filter((name) => name.endsWith('.index'));
    const read = (name) => fs.readFileSync(${JSON.stringify(`${folder}/`)} + name);
    if (${how === 'md5'}) for (const name of names) createHash('md5').update(read(name)).digest();
    else {
      const { decodeArchiveIndex, ArchiveGroupEncoder } = await import(${JSON.stringify(formats)});
      const group = new ArchiveGroupEncoder();
      for (const name of names) {
        const index = decodeArchiveIndex(new Uint8Array(read(name)));
        if (index.layout.offsetBytes === 4) group.add(index);
      }
      for (const piece of group.encode()) void piece;
    }`;
  return measure(process.execPath, ['--input-type=module', '--eval', program]);
}
