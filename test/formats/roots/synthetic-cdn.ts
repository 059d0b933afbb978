import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { conformanceTool } from '../../support/conformance.ts';

/** One line of a truth table, by column name. */
export type TruthRow = Record<string, string>;

/** A CDN made by a generator that shares no code with ours, with its table of the truth. */
export interface SyntheticCdn {
  summary: Record<'build_a' | 'build_b', Record<string, [ckey: string, ekey: string, size: number]>>;
  /** Rows of `truth/<name>.tsv`. */
  truth(name: string): TruthRow[];
  /** Decoded bytes of a loose object under `data`. */
  object(ekey: string): Uint8Array;
  /** The bytes of any file of the CDN, such as `patch` objects. */
  raw(kind: string, key: string): Uint8Array;
  text(path: string): string;
  /** Values of a key of a build config. */
  config(build: 'a' | 'b'): Map<string, string[]>;
  remove(): void;
}

/** Unpacks a BLTE object of plain and zlib chunks; enough for manifests, and not our decoder. */
export function unpackBlte(blte: Uint8Array): Uint8Array {
  const view = new DataView(blte.buffer, blte.byteOffset, blte.byteLength);
  const headerSize = view.getUint32(4);
  const count = headerSize === 0 ? 1 : view.getUint32(8) & 0xffffff;
  const parts: Uint8Array[] = [];
  let at = headerSize || 8;
  for (let i = 0; i < count; i++) {
    const size = headerSize === 0 ? blte.length - at : view.getUint32(12 + 24 * i);
    const body = blte.subarray(at + 1, at + size);
    parts.push(blte[at] === 0x5a ? inflateSync(body) : body);
    at += size;
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** Makes a small CDN with gencdn.py in a temporary folder. */
export function makeSyntheticCdn(...options: string[]): SyntheticCdn {
  const out = mkdtempSync(join(tmpdir(), 'pakrat-cdn-'));
  const size = ['--files', '300', '--total-bytes', '2M'];
  execFileSync('python3', [conformanceTool('gencdn.py'), 'make', '--out', out, ...size, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const text = (path: string): string => readFileSync(join(out, path), 'utf8');
  const raw = (kind: string, key: string): Uint8Array =>
    new Uint8Array(readFileSync(join(out, 'www/tpr/wow', kind, key.slice(0, 2), key.slice(2, 4), key)));
  const summary = JSON.parse(text('truth/summary.json'));
  return {
    summary,
    text,
    raw,
    object: (ekey) => unpackBlte(raw('data', ekey)),
    truth(name) {
      const [head, ...lines] = text(`truth/${name}.tsv`).trimEnd().split('\n');
      const columns = head!.split('\t');
      return lines.map((line) => Object.fromEntries(line.split('\t').map((cell, i) => [columns[i]!, cell])));
    },
    config(build) {
      const lines = new TextDecoder().decode(raw('config', summary.configs.build[build])).split('\n');
      return new Map(
        lines
          .filter((line) => line.includes(' = '))
          .map((line) => [line.split(' = ')[0]!, line.split(' = ')[1]!.split(' ')]),
      );
    },
    remove: () => rmSync(out, { recursive: true, force: true }),
  };
}
