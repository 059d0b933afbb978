import * as fs from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../src/core/errors.ts';
import { readUpTo } from '../../src/files/read-at.ts';
import { Ledger } from '../../src/store/ledger/ledger.ts';
import { covers, type Span } from '../../src/store/spans.ts';
import { openStore } from '../../src/store/store.ts';

/** What a store claims to hold, compared with the tree that it came from. */
export interface HeldCheck {
  bytes: number;
  /** Intervals whose bytes are not those of the tree, and files that a web server would serve otherwise than the tree; none in a sound store. */
  wrong: string[];
}

/** Objects, by path, that a web server over a store would serve. */
export function servedObjects(store: string): string[] {
  const below = fs.existsSync(store) ? fs.readdirSync(store, { recursive: true, encoding: 'utf8' }) : [];
  return below
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\/..\/..\/[0-9a-f]{32}(\.index)?$/.test(path) && !/^(partial|channels)\//.test(path))
    .sort();
}

/** Objects that a web server over a store would serve with other bytes than the tree has. */
export function wronglyServed(store: string, www: string): string[] {
  const isSame = (path: string): boolean => fs.readFileSync(join(store, path)).equals(fs.readFileSync(join(www, path)));
  return servedObjects(store).filter((path) => !isSame(path));
}

/** Compares every byte that the ledger calls held with the served tree. `www` is the folder that the server serves. No store yet holds nothing. */
export function checkHeldBytes(store: string, www: string): HeldCheck {
  if (!fs.existsSync(join(store, 'ledger.db'))) return { bytes: 0, wrong: [] };
  const { ledger, file, close } = openStore(store, { create: false });
  try {
    const check: HeldCheck = {
      bytes: 0,
      wrong: wronglyServed(store, www).map((path) => `${path} would be served wrong`),
    };
    for (const { path, complete } of [...ledger.objects()]) {
      const held = file(path);
      const origin = fs.readFileSync(join(www, path));
      if (complete && fs.statSync(held).size !== origin.length) check.wrong.push(`${path}: not ${origin.length} bytes`);
      for (const { start, end } of ledger.spans(path)) {
        check.bytes += end - start;
        if (!readRange(held, start, end).equals(origin.subarray(start, end)))
          check.wrong.push(`${path} ${start}-${end}`);
      }
    }
    return check;
  } finally {
    close();
  }
}

/** The bytes of a file, fewer when it ends early, none when it is not there. */
function readRange(path: string, start: number, end: number): Buffer {
  if (!fs.existsSync(path)) return Buffer.alloc(0);
  const fd = fs.openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(end - start);
    return bytes.subarray(0, readUpTo(fd, bytes, start));
  } finally {
    fs.closeSync(fd);
  }
}

/** What a ledger calls held, by object. */
export type Claims = ReadonlyMap<string, readonly Span[]>;

/** What the ledger of a store calls held now, also while another process writes to it; nothing when there is none yet. */
export function readClaims(store: string): Claims {
  const path = join(store, 'ledger.db');
  if (!fs.existsSync(path) || fs.statSync(path).size === 0) return new Map();
  const ledger = openIfMade(path);
  if (ledger === undefined) return new Map();
  try {
    return new Map([...ledger.objects()].map((object) => [object.path, ledger.spans(object.path)]));
  } finally {
    ledger.close();
  }
}

/** A ledger, unless whoever began it was killed before it had its tables. */
function openIfMade(path: string): Ledger | undefined {
  try {
    return new Ledger(path, { readOnly: true });
  } catch (error) {
    if (codeOf(error) === 'E_STORE_SCHEMA') return undefined;
    throw error;
  }
}

/** What was held and is no more. */
export function lostClaims(before: Claims, after: Claims): string[] {
  return [...before].flatMap(([path, spans]) => {
    const lost = spans.filter(({ start, end }) => !covers(after.get(path) ?? [], start, end));
    return lost.map(({ start, end }) => `${path} ${start}-${end} was held and is lost`);
  });
}
