import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { conformanceTool } from '../support/conformance.ts';

/** One build of summary.json: `[ckey, ekey, size]` of each manifest, and counts. */
export interface GeneratedBuild {
  root: [string, string, number];
  download: [string, string, number];
  size: [string, string, number];
  encoding: [string, string, number];
  root_rows: number;
  ckeys: number;
  ekeys: number;
  download_entries: number;
  archives: number;
  group_entries: number;
  group: string;
  /** Path, ckey, size, and the class that says which tags it has. */
  install: [string, string, number, string][];
}

export interface GeneratedSummary {
  archive_bytes: number;
  index_entries: number;
  loose: number;
  configs: { build: Record<string, string>; cdn: Record<string, string>; product_config: string; keyring: string };
  build_a: GeneratedBuild;
  build_b: GeneratedBuild;
  patch: { files: number; manifest: [string, number]; config: string; archives: string[] };
}

/** A line of the table of truth. */
export type TruthRow = Record<string, string>;

/** A CDN tree made by the independent generator. Needs `remove`. */
export interface GeneratedTree {
  readonly summary: GeneratedSummary;
  /** A file below the root of the tree. */
  read(...parts: string[]): Uint8Array;
  /** An object of the CDN. */
  object(kind: 'config' | 'data' | 'patch', name: string): Uint8Array;
  /** An object of the CDN, taken out of its BLTE; chunks must be plain or deflated. */
  decoded(ekey: string): Uint8Array;
  /** Names of the objects of a kind whose file name ends so. */
  names(kind: 'config' | 'data' | 'patch', suffix: string): string[];
  truth(build: 'a' | 'b'): TruthRow[];
  remove(): void;
}

/** Runs the generator (about a second) into a folder of its own. */
export function generateTree(...options: string[]): GeneratedTree {
  const out = mkdtempSync(join(tmpdir(), 'pakrat-tree-'));
  const size = ['--files', '300', '--total-bytes', '2M'];
  execFileSync('python3', [conformanceTool('gencdn.py'), 'make', '--out', out, ...size, ...options], { stdio: 'pipe' });
  const read = (...parts: string[]): Uint8Array => new Uint8Array(readFileSync(join(out, ...parts)));
  const object = (kind: string, name: string): Uint8Array =>
    read('www/tpr/wow', kind, name.slice(0, 2), name.slice(2, 4), name);
  return {
    summary: JSON.parse(new TextDecoder().decode(read('truth/summary.json'))),
    read,
    object,
    decoded: (ekey) => decodePlainBlte(object('data', ekey)),
    names: (kind, suffix) =>
      readdirSync(join(out, 'www/tpr/wow', kind), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith(suffix))
        .map((path) => path.split('/').at(-1)!.slice(0, -suffix.length)),
    truth: (build) => parseTsv(new TextDecoder().decode(read(`truth/build-${build}.tsv`))),
    remove: () => rmSync(out, { recursive: true }),
  };
}

function parseTsv(text: string): TruthRow[] {
  const [header, ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  return rows.map((row) => Object.fromEntries(header!.map((name, i) => [name, row[i] ?? ''])));
}

/** BLTE as far as these tests need it, so that they do not hang on our own decoder. */
function decodePlainBlte(blte: Uint8Array): Uint8Array {
  const view = Buffer.from(blte.buffer, blte.byteOffset, blte.byteLength);
  const headerSize = view.readUInt32BE(4);
  const chunks: Uint8Array[] = [];
  const chunk = (bytes: Uint8Array): Uint8Array =>
    bytes[0] === 0x5a ? inflateSync(bytes.subarray(1)) : bytes.subarray(1);
  if (headerSize === 0) return chunk(view.subarray(8));
  let at = headerSize;
  for (let row = 12; row < headerSize; row += 24) {
    const size = view.readUInt32BE(row);
    chunks.push(chunk(view.subarray(at, at + size)));
    at += size;
  }
  return new Uint8Array(Buffer.concat(chunks));
}
