// Decoding BLTE objects on all cores, beside what does the heavy part of it alone: inflate of node:zlib, Salsa20 of @noble/ciphers. Objects in memory,
// the same chunks for both; the peers are given what is best for them: chunks apart and aligned, and the size of what comes out.
//
//   node bench/run.js blte
//
// `pakrat` checks the MD5 of each chunk, as it always does, and gives all of an object as one: so does the peer in the rows that say so.
import { createHash, hash } from 'node:crypto';
import { once as onceOf } from 'node:events';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { deflateSync, inflateSync } from 'node:zlib';
import { salsa20 } from '@noble/ciphers/salsa.js';
import { bin, median } from './parts.js';

const chunkSize = 256 << 10;
const chunksEach = 16;
const keyName = 'fa505078126acb3e';
const key = createHash('md5').update('a key').digest();

/** What is decoded: its chunks, and how a peer decodes one. */
const kinds = {
  zlib: {
    asked: 0.9,
    objects: 16,
    chunk: (content) => Buffer.concat([Buffer.from('Z'), deflateSync(content)]),
    bare: (chunk) => chunk.subarray(1),
    peer: (bare) => inflateSync(bare, { chunkSize: chunkSize + 1 }),
    peerName: 'inflateSync',
  },
  salsa20: {
    asked: 0.95,
    objects: 8,
    chunk: (content, index) =>
      Buffer.concat([
        Buffer.from('E\x08', 'latin1'),
        Buffer.from(keyName, 'hex').reverse(),
        Buffer.from('\x04\0\0\0\0S', 'latin1'),
        salsa20(key, nonceOf(index), Uint8Array.from(Buffer.concat([Buffer.from('N'), content]))),
      ]),
    bare: (chunk) => Uint8Array.from(chunk.subarray(16)),
    peer: (bare, index) => salsa20(key, nonceOf(index), bare),
    peerName: '@noble/ciphers',
  },
};

function nonceOf(index) {
  const nonce = new Uint8Array(8);
  new DataView(nonce.buffer).setUint32(0, index, true);
  return nonce;
}

/** Runs all variants in turn, each in all threads at once. */
export async function blteTrial({ reps, scale }) {
  const threads = availableParallelism();
  console.log(`${threads} threads; objects of ${chunksEach} chunks of 256 KiB, medians of ${3 * reps}\n`);
  console.log('| | MB/s of output | processor ms/MB | throughput, processor of this row / pakrat | asked of pakrat |');
  console.log('| --- | --- | --- | --- | --- |');
  for (const [kind, { objects, asked, peerName }] of Object.entries(kinds)) {
    const count = Math.max(1, Math.round(objects / scale));
    const workers = Array.from(
      { length: threads },
      () =>
        new Worker(fileURLToPath(import.meta.url), {
          workerData: { kind, count, formats: pathToFileURL(join(dirname(bin), '../dist/formats.js')).href },
        }),
    );
    const megabytes = (threads * count * chunksEach * chunkSize) / 1e6;
    const variants = {
      pakrat: 'ours',
      [`${peerName}, MD5 of the chunks, and all in one`]: 'joined',
      [`${peerName} and MD5 of the chunks`]: 'checked',
      [`${peerName} alone`]: 'alone',
    };
    const runs = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
    for (let rep = -2; rep < 3 * reps; rep++) {
      for (const [name, variant] of Object.entries(variants)) {
        const result = await once(workers, variant);
        if (rep >= 0) runs[name].push(result);
      }
    }
    for (const worker of workers) await worker.terminate();
    show(kind, runs, { megabytes, asked });
  }
}

async function once(workers, variant) {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  await Promise.all(
    workers.map((worker) => {
      worker.postMessage(variant);
      return onceOf(worker, 'message');
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - started) / 1000, cpu: (user + system) / 1e6 };
}

function show(kind, runs, { megabytes, asked }) {
  const of = (name, what) => median(runs[name].map((run) => run[what]));
  for (const name of Object.keys(runs)) {
    const ratio = (what) => (of(name, what) / of('pakrat', what)).toFixed(2);
    const cells = [(megabytes / of(name, 'seconds')).toFixed(0), ((1000 * of(name, 'cpu')) / megabytes).toFixed(2)];
    const ratios = name === 'pakrat' ? '' : `${ratio('seconds')}, ${ratio('cpu')}`;
    console.log(
      `| ${kind}: ${name} | ${cells.join(' | ')} | ${ratios} | ${name === 'pakrat' ? '' : `${asked} of it`} |`,
    );
  }
}

/** Half of it noise, half of it text. */
function contentOf(seed) {
  const bytes = Buffer.alloc(chunkSize, `line ${seed} of a text that repeats itself, as texts do; `);
  for (let at = 0; at < chunkSize; at += 64) createHash('sha256').update(`${seed} ${at}`).digest().copy(bytes, at);
  return bytes;
}

function objectOf(kind, seed) {
  const chunks = Array.from({ length: chunksEach }, (_, i) => kinds[kind].chunk(contentOf(seed * chunksEach + i), i));
  const header = Buffer.alloc(12 + 24 * chunksEach);
  header.write('BLTE');
  header.writeUInt32BE(header.length, 4);
  header.writeUInt32BE(0x0f00_0000 + chunksEach, 8);
  chunks.forEach((chunk, i) => {
    header.writeUInt32BE(chunk.length, 12 + 24 * i);
    header.writeUInt32BE(chunkSize, 16 + 24 * i);
    createHash('md5')
      .update(chunk)
      .digest()
      .copy(header, 20 + 24 * i);
  });
  const bytes = new Uint8Array(Buffer.concat([header, ...chunks]));
  return { bytes, chunks, bare: chunks.map(kinds[kind].bare) };
}

async function decodeInThread({ kind, count, formats }) {
  const { decodeBlte } = await import(formats);
  const { peer } = kinds[kind];
  const keys = { find: () => key };
  const objects = Array.from({ length: count }, (_, i) => objectOf(kind, i));
  const work = {
    ours: ({ bytes }) => decodeBlte(bytes, { keys }).length,
    checked: ({ chunks, bare }) => {
      let size = 0;
      bare.forEach((one, i) => {
        hash('md5', chunks[i], 'buffer');
        size += peer(one, i).length;
      });
      return size;
    },
    joined: ({ chunks, bare }) => {
      const whole = new Uint8Array(chunksEach * chunkSize);
      bare.forEach((one, i) => {
        hash('md5', chunks[i], 'buffer');
        const decoded = peer(one, i);
        whole.set(decoded.subarray(decoded.length - chunkSize), i * chunkSize);
      });
      return whole.length;
    },
    alone: ({ bare }) => bare.reduce((size, one, i) => size + peer(one, i).length, 0),
  };
  parentPort.on('message', (variant) => {
    let size = 0;
    for (const object of objects) size += work[variant](object);
    parentPort.postMessage(size);
  });
}

if (!isMainThread) await decodeInThread(workerData);
