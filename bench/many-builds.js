// Many small builds of one product that share most of their files, each published and synced while it is live, as somebody has them who watches it.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { bin, startNginx } from './parts.js';

/** The part of the files that a build has anew. */
const churn = 0.01;
const filesPerFolder = 200;
const progressEvery = 10;

/** Bytes that no compression makes smaller: of a file, by the build that changed it last. */
function contentOf(file, build) {
  const first = createHash('sha512').update(`${file} ${build}`).digest();
  const size = 100 + (first.readUInt16BE(0) % 201);
  const pieces = [first];
  while (pieces.length * 64 < size)
    pieces.push(
      createHash('sha512')
        .update(pieces.at(-1) ?? first)
        .digest(),
    );
  return Buffer.concat(pieces).subarray(0, size);
}

/** The files that a build changes, counted from 0: the first has all. */
function changedIn(build, files) {
  if (build === 0) return Array.from({ length: files }, (_, i) => i);
  const count = Math.max(1, Math.round(files * churn));
  const digest = (i) => createHash('md5').update(`${build} ${i}`).digest().readUInt32BE(0);
  return Array.from({ length: count }, (_, i) => digest(i) % files);
}

/**
 * Makes a store with builds of small files, or goes on where it was left.
 * @param work a folder that keeps all of it: the files, what is published, and `store`
 */
export async function makeBuilds(work, { builds, files }) {
  const { openPakrat } = await import(join(dirname(bin), '../dist/index.js'));
  const [folder, www] = [join(work, 'files'), join(work, 'www')];
  fs.mkdirSync(work, { recursive: true });
  const done = join(work, 'done');
  const first = fs.existsSync(done) ? Number(fs.readFileSync(done, 'latin1')) : 0;
  if (first >= builds) return;
  fs.mkdirSync(www, { recursive: true });
  const server = await startNginx(work, work);
  const host = server.url.replace('http://', '');
  const pakrat = await openPakrat({ store: join(work, 'store'), patchUrl: server.url, cdnHost: [host], threads: 0 });
  try {
    for (let build = first; build < builds; build++) {
      for (const file of changedIn(build, files)) {
        const path = join(folder, `part${Math.floor(file / filesPerFolder)}`, `file${file}.bin`);
        fs.mkdirSync(dirname(path), { recursive: true });
        fs.writeFileSync(path, contentOf(file, build));
      }
      await pakrat.publish(folder, { product: 'small', to: www, hosts: [host], buildName: `1.${build}`, jobs: 1 });
      await pakrat.sync('small');
      fs.writeFileSync(done, String(build + 1));
      if (build % progressEvery === 0) console.error(`${build + 1} of ${builds} builds`);
    }
  } finally {
    await pakrat.close();
    await server.close();
  }
}
