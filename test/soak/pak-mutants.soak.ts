import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { openPakrat } from '../../src/index.ts';
import { findPakFamily, openPak, type PakOptions } from '../../src/paks/index.ts';
import type { Pak } from '../../src/paks/pak.ts';
import { hasConformance } from '../support/conformance.ts';
import { randomSource } from '../support/hostile.ts';
import { everyPakFile, fixtureKeys } from '../support/pak-fixtures.ts';
import { exercisePak } from '../support/pak-hostile.ts';
import { contentHash, countingSource } from '../support/pak-sources.ts';
import { scratchFolder } from '../support/scratch.ts';

/*
 * PAKs of every family, real ones and our own, damaged at random: whatever comes, it ends in time with an error that has a code; and what a
 * hash of the format covers is never given out wrong.
 */

jest.setTimeout(60 * 60_000);
const scratch = scratchFolder();
const mutantsInAll = Number(process.env.PAKRAT_MUTANTS ?? 5000);
const key = '1f'.repeat(32);
const nadeoKey = '0123456789abcdef0123456789abcdef';

/** A PAK that is right. */
interface Subject {
  label: string;
  bytes: Uint8Array;
  options: PakOptions;
  /** Hash of each content that can be read, by the name of the file. */
  contents: Map<string, string>;
}

const subjects: Subject[] = [];

async function addSubject(path: string, options: PakOptions): Promise<void> {
  const bytes = new Uint8Array(readFileSync(path));
  if (bytes.length > 200_000 || (await findPakFamily(countingSource(bytes))) === undefined) return;
  const contents = await readAll(await openPak(countingSource(bytes), options)).catch(() => undefined);
  if (contents === undefined) return;
  subjects.push({ label: basename(path), bytes, options, contents });
}

/** Hashes of the contents that are proven; of Quake's, which nothing proves, none. */
async function readAll(pak: Pak): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  try {
    for (const entry of pak.entries) {
      try {
        const hash = await contentHash(pak, entry);
        if (await pak.hasProof(entry)) contents.set(entry.name, hash);
      } catch {
        // A damaged entry has no content that could be wrong.
      }
    }
  } finally {
    await pak.close();
  }
  return contents;
}

beforeAll(async () => {
  const from = scratch('from');
  mkdirSync(`${from}/d`, { recursive: true });
  for (const [name, size] of [
    ['a.txt', 26],
    ['d/b.bin', 70_000],
    ['d/c', 4096],
    ['empty', 0],
  ] as const) {
    writeFileSync(`${from}/${name}`, Buffer.alloc(size, `${name} is what it holds, `));
  }
  await using pakrat = await openPakrat();
  await pakrat.pack.quake(scratch('own-quake.pak'), from);
  await addSubject(scratch('own-quake.pak'), {});
  for (const version of ['1', '3', '5', '7', '8A', '8B', '9', '10', '11']) {
    for (const compress of ['none', 'zlib'] as const) {
      if (compress === 'zlib' && Number.parseInt(version, 10) < 3) continue;
      const encrypted = compress === 'zlib';
      const out = scratch(`own-unreal-${version}-${compress}.pak`);
      await pakrat.pack.unreal(out, from, { version, compress, ...(encrypted && { key: [key] }) });
      await addSubject(out, encrypted ? { keys: [new Uint8Array(Buffer.from(key, 'hex'))] } : {});
    }
  }
  for (const version of [1, 6, 12, 18]) {
    const out = scratch(`own-nadeo-${version}.Pack.Gbx`);
    await pakrat.pack.nadeo(out, from, { version, key: [nadeoKey] });
    await addSubject(out, { keys: [new Uint8Array(Buffer.from(nadeoKey, 'hex'))] });
  }
  if (hasConformance) for (const { path } of everyPakFile()) await addSubject(path, { keys: fixtureKeys() });
});

type Random = () => number;

/** Ways to damage bytes; each gives new ones. */
const damages: Record<string, (bytes: Uint8Array, random: Random) => Uint8Array> = {
  bit: (bytes, random) => changeAt(bytes, place(bytes, random), (byte) => byte ^ (1 << Math.floor(random() * 8))),
  byte: (bytes, random) => changeAt(bytes, place(bytes, random), () => Math.floor(random() * 256)),
  number(bytes, random) {
    const changed = bytes.slice();
    const at = Math.min(place(bytes, random), Math.max(0, bytes.length - 4));
    const value = [0, 1, 0x7fffffff, 0xffffffff, bytes.length, bytes.length - 1][Math.floor(random() * 6)] ?? 0;
    if (bytes.length >= 4) new DataView(changed.buffer).setUint32(at, value, true);
    return changed;
  },
  zeros(bytes, random) {
    const at = place(bytes, random);
    return bytes.slice().fill(0, at, at + 1 + Math.floor(random() * 4096));
  },
  cut: (bytes, random) => bytes.slice(0, place(bytes, random)),
  gap(bytes, random) {
    const at = place(bytes, random);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + Math.floor(random() * 100))]);
  },
  insert(bytes, random) {
    const at = place(bytes, random);
    return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(1 + Math.floor(random() * 100), 7), bytes.subarray(at)]);
  },
  swap(bytes, random) {
    const changed = bytes.slice();
    const [a, b] = [place(bytes, random), place(bytes, random)];
    const size = Math.min(1 + Math.floor(random() * 512), bytes.length - Math.max(a, b));
    changed.set(bytes.subarray(a, a + size), b);
    changed.set(bytes.subarray(b, b + size), a);
    return changed;
  },
  doubled: (bytes) => Buffer.concat([bytes, bytes]),
};

/** Half of the places are where directories and footers lie. */
function place(bytes: Uint8Array, random: Random): number {
  const end = Math.min(700, bytes.length);
  if (random() < 0.4) return bytes.length - 1 - Math.floor(random() * end);
  return Math.floor(random() * (random() < 0.2 ? end : bytes.length));
}

function changeAt(bytes: Uint8Array, at: number, change: (byte: number) => number): Uint8Array {
  const changed = bytes.slice();
  changed[at] = change(changed[at] ?? 0);
  return changed;
}

test(`${mutantsInAll} damaged PAKs: no crash, no hang, nothing wrong that a hash covers`, async () => {
  expect(subjects.length).toBeGreaterThan(hasConformance ? 40 : 20);
  const seed = Number(process.env.PAKRAT_SEED ?? Date.now() % 1_000_000);
  const random = randomSource(seed);
  const names = Object.keys(damages);
  const wrong: string[] = [];
  const counts: Record<string, number> = {};
  for (let i = 0; i < mutantsInAll; i++) {
    const { label, bytes, options, contents } = subjects[i % subjects.length]!;
    const kind = names[Math.floor(random() * names.length)]!;
    const mutant = new Uint8Array(damages[kind]!(bytes, random));
    const story = `seed ${seed}, mutant ${i}: ${label} by ${kind}`;
    const { opened, codes } = await exercisePak(mutant, story, options, true);
    const outcome = opened ?? codes[0] ?? 'read';
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    if (opened === undefined)
      wrong.push(...(await wrongIn(mutant, options, contents)).map((name) => `${story}: ${name}`));
  }
  console.log(`seed ${seed}, ${subjects.length} PAKs`, counts);
  expect(wrong).toEqual([]);
});

/** The files that read without an error, and are not what they were, although the PAK calls them proven. */
async function wrongIn(mutant: Uint8Array, options: PakOptions, contents: Map<string, string>): Promise<string[]> {
  const found = await readAll(await openPak(countingSource(mutant), options));
  return [...found].flatMap(([name, hash]) => (contents.has(name) && contents.get(name) !== hash ? [name] : []));
}
