import { concatBytes } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { ByteReader, repeatable } from '../../../core/reader.ts';
import { type Format, startsWith } from '../../format.ts';
import { type Level, NameBuffer, readLevel } from './level.ts';

/** All names may be this many times larger than the trie; those of games are some 25 times. */
const maxExpansion = 200;

const format = 'MAR';

/** Told by its magic. */
export const marFormat: Format = { name: 'name trie', matches: startsWith('MAR\0') };

/** A name of a trie. */
export interface TrieKey {
  /** From 0, each once. */
  id: number;
  /** Its bytes; mostly UTF-8. */
  name: Uint8Array;
}

/** A MAR: a set of names with an id each, compressed. */
export interface NameTrie {
  /** All names, those with the same start one after the other. @throws E_FORMAT… when the trie is damaged, or spells far more than it can hold */
  readonly keys: Iterable<TrieKey>;
  /** Number of names. */
  readonly count: number;
  /** The id of a name, or undefined; every byte counts, case too. */
  find(name: Uint8Array): number | undefined;
  /** The name of an id below `count`. @throws E_FORMAT… when the trie is damaged there */
  nameOf(id: number): Uint8Array;
}

/** Reads a MAR (see level.ts). The shape is checked here; labels are when they are read. @throws E_FORMAT… */
export function decodeMar(bytes: Uint8Array): NameTrie {
  const reader = new ByteReader(bytes, format);
  reader.magic('MAR\0');
  const level = readLevel(reader);
  reader.end();
  const { terminals, nodeCount } = level;
  if (terminals.size < nodeCount || terminals.rank(nodeCount) !== terminals.ones) {
    const facts = { expected: nodeCount, found: terminals.size };
    throw formatError('E_FORMAT_RANGE', format, 'ends of names do not belong to the nodes', facts);
  }
  return {
    keys: repeatable(() => allKeys(level, bytes.length * maxExpansion + 0x10000)),
    count: terminals.ones,
    find: (name) => findKey(level, name),
    nameOf: (id) => keyName(level, terminals.select(id)),
  };
}

function findKey(level: Level, name: Uint8Array): number | undefined {
  let node = 0;
  for (let at = 0; at < name.length; ) {
    const end = level.childEnd(node);
    let next = -1;
    let child = level.firstChild(node);
    for (; child < end && next < 0; child++) next = level.match(child, name, at);
    if (next < 0) return undefined;
    node = child - 1;
    at = next;
  }
  return level.terminals.has(node) ? level.terminals.rank(node) : undefined;
}

function keyName(level: Level, end: number): Uint8Array {
  const labels: Uint8Array[] = [];
  let size = 0;
  for (let node = end; node > 0; node = level.parent(node)) {
    const label = new NameBuffer(size);
    level.append(node, label);
    labels.push(label.bytes(size));
    size = label.size;
  }
  return concatBytes(labels.reverse());
}

function* allKeys(level: Level, maxBytes: number): Generator<TrieKey> {
  const buffer = new NameBuffer();
  const waiting = [{ node: 0, size: 0 }];
  let spelt = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, size } = next;
    buffer.size = size;
    if (node > 0) level.append(node, buffer);
    const ends = level.terminals.has(node);
    spelt += ends ? buffer.size : buffer.size - size;
    if (spelt > maxBytes) throw formatError('E_FORMAT_RANGE', format, `its names take more than ${maxBytes} bytes`);
    if (ends) yield { id: level.terminals.rank(node), name: buffer.bytes() };
    for (let child = level.childEnd(node) - 1; child >= level.firstChild(node); child--) {
      waiting.push({ node: child, size: buffer.size });
    }
  }
}
