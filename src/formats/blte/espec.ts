/*
 * Encoding specs: how a file was cut into chunks and how each was encoded, as text in the encoding file.
 *
 *   n                          as it is
 *   z   z:6   z:{6,mpq}        zlib; level (9 when absent) and window bits, or a word for them
 *   e:{KEY,IV,spec}            encrypted: 16 hex digits of the key name as on the wire, 8 or 16 of the IV
 *   b:{SIZE=spec,…}  b:SIZE=z  a table of chunks: 256K= one chunk, 256K*3= three, 256K*= as many as fit (the last
 *                              of them shorter), *= whatever is left as one chunk; sizes in bytes, K or M
 *   c:{…}   g:{…}              bcpack and gdeflate
 *
 * (wowdev.wiki TACT; checked on the specs of real builds: 2966 of StarCraft-era and WoW files, 50 of 2026)
 */
import { formatError, type PakratError } from '../../core/errors.ts';
import { defaultLevel } from './modes.ts';

/** A parsed spec. It prints as the text it came from. */
export type Espec =
  | { type: 'n' }
  | { type: 'z'; level?: number; bits?: EspecBits; braced?: boolean }
  | { type: 'e'; key: string; iv: string; spec: Espec }
  | { type: 'b'; blocks: readonly EspecBlock[]; braced: boolean }
  | { type: 'c' | 'g'; parameters?: string };

/** Window bits, or a word for them: `mpq` takes them from the size of the chunk. */
export type EspecBits = number | 'mpq' | 'zlib' | 'lz4hc';

/** One item of a `b` spec. */
export interface EspecBlock {
  /** In units; absent when the block is what the others leave. */
  size?: number;
  unit?: 'K' | 'M';
  /** The number of chunks of this size, or as many as fit. */
  repeat?: number | 'fit';
  spec: Espec;
}

/** A chunk that a spec asks for. */
export interface PlannedChunk {
  size: number;
  spec: Espec;
}

const what = 'espec';
const maxDepth = 8;
const maxChunks = 0xffffff;
const unitSizes = { K: 1024, M: 1048576 } as const;

/** Parses a spec. Throws E_FORMAT with the offset, E_FORMAT_RANGE for numbers out of range. */
export function parseEspec(text: string): Espec {
  const cursor: Cursor = { text, pos: 0 };
  const spec = parseSpec(cursor, 0);
  if (cursor.pos !== text.length) throw unexpected(cursor, 'the end');
  return spec;
}

/** The text of a spec. */
export function printEspec(spec: Espec): string {
  switch (spec.type) {
    case 'n':
      return 'n';
    case 'z':
      if (spec.bits !== undefined) return `z:{${spec.level ?? defaultLevel},${spec.bits}}`;
      if (spec.level === undefined) return 'z';
      return spec.braced === true ? `z:{${spec.level}}` : `z:${spec.level}`;
    case 'e':
      return `e:{${spec.key},${spec.iv},${printEspec(spec.spec)}}`;
    case 'b': {
      const blocks = spec.blocks.map(printBlock).join(',');
      return spec.braced || spec.blocks.length > 1 ? `b:{${blocks}}` : `b:${blocks}`;
    }
    default:
      return spec.parameters === undefined ? spec.type : `${spec.type}:${spec.parameters}`;
  }
}

/** The sizes of the chunks that a spec makes of a file; one for a spec without `b`. @throws as {@link planChunks} */
export function blockSizes(spec: Espec, decodedSize: number): number[] {
  return planChunks(spec, decodedSize).map((chunk) => chunk.size);
}

/**
 * The chunks that a spec makes of a file. A file of no bytes has one chunk of none.
 * @throws E_FORMAT when the blocks do not add up to the size, E_FORMAT_RANGE for more chunks than a table holds
 */
export function planChunks(spec: Espec, decodedSize: number): PlannedChunk[] {
  if (spec.type !== 'b') return [{ size: decodedSize, spec }];
  const left = decodedSize - fixedSize(spec.blocks);
  if (left < 0 || (left > 0 && !spec.blocks.some(isElastic))) {
    const expected = decodedSize - left;
    throw formatError('E_FORMAT', what, 'its blocks are not the size of the file', { expected, found: decodedSize });
  }
  const chunks: PlannedChunk[] = [];
  for (const block of spec.blocks) addChunks(chunks, block, left);
  const [first] = spec.blocks;
  return chunks.length > 0 || first === undefined ? chunks : [{ size: 0, spec: first.spec }];
}

/** True for a block whose total depends on the file. */
function isElastic(block: EspecBlock): boolean {
  return block.size === undefined || block.repeat === 'fit';
}

function fixedSize(blocks: readonly EspecBlock[]): number {
  let total = 0;
  for (const block of blocks) if (!isElastic(block)) total += unitSize(block) * Number(block.repeat ?? 1);
  return total;
}

function unitSize({ size = 0, unit }: EspecBlock): number {
  return size * (unit === undefined ? 1 : unitSizes[unit]);
}

function addChunks(chunks: PlannedChunk[], block: EspecBlock, left: number): void {
  const elastic = isElastic(block);
  const each = block.size === undefined ? Math.max(left, 1) : unitSize(block);
  const count = elastic ? Math.ceil(left / each) : Number(block.repeat ?? 1);
  if (count > maxChunks - chunks.length) {
    throw formatError('E_FORMAT_RANGE', what, `more than the ${maxChunks} chunks of a table`);
  }
  const full = { size: each, spec: block.spec };
  const shorter = elastic ? left % each : 0;
  for (let i = 0; i < count; i++) chunks.push(shorter > 0 && i === count - 1 ? { ...full, size: shorter } : full);
}

function printBlock({ size, unit, repeat, spec }: EspecBlock): string {
  const times = repeat === undefined ? '' : repeat === 'fit' ? '*' : `*${repeat}`;
  return `${size === undefined ? '*' : `${size}${unit ?? ''}${times}`}=${printEspec(spec)}`;
}

interface Cursor {
  readonly text: string;
  pos: number;
}

function parseSpec(cursor: Cursor, depth: number): Espec {
  if (depth > maxDepth) throw formatError('E_FORMAT_RANGE', what, `more than ${maxDepth} specs in one another`);
  if (skip(cursor, 'n')) return { type: 'n' };
  if (skip(cursor, 'z')) return parseZlib(cursor);
  if (skip(cursor, 'e')) return parseEncryption(cursor, depth);
  if (skip(cursor, 'b')) return parseBlocks(cursor, depth);
  if (skip(cursor, 'c')) return { type: 'c', ...parseParameters(cursor) };
  if (skip(cursor, 'g')) return { type: 'g', ...parseParameters(cursor) };
  throw unexpected(cursor, 'n, z, e, b, c or g');
}

function parseZlib(cursor: Cursor): Espec {
  if (!skip(cursor, ':')) return { type: 'z' };
  if (!skip(cursor, '{')) return { type: 'z', level: number(cursor, 0, 9) };
  const level = number(cursor, 0, 9);
  if (skip(cursor, '}')) return { type: 'z', level, braced: true };
  demand(cursor, ',');
  const word = take(cursor, /mpq|zlib|lz4hc/y);
  const bits = (word as EspecBits | undefined) ?? number(cursor, 8, 15);
  demand(cursor, '}');
  return { type: 'z', level, bits };
}

function parseEncryption(cursor: Cursor, depth: number): Espec {
  demand(cursor, ':{');
  const key = take(cursor, /[0-9a-fA-F]{16}/y) ?? fail(cursor, '16 hex digits of a key name');
  demand(cursor, ',');
  const iv = take(cursor, /[0-9a-fA-F]{8}(?:[0-9a-fA-F]{8})?/y) ?? fail(cursor, '8 or 16 hex digits of an IV');
  demand(cursor, ',');
  const spec = parseSpec(cursor, depth + 1);
  demand(cursor, '}');
  return { type: 'e', key, iv, spec };
}

function parseBlocks(cursor: Cursor, depth: number): Espec {
  demand(cursor, ':');
  const braced = skip(cursor, '{');
  const blocks = [parseBlock(cursor, depth)];
  while (braced && skip(cursor, ',')) blocks.push(parseBlock(cursor, depth));
  if (braced) demand(cursor, '}');
  if (blocks.filter(isElastic).length > 1) {
    throw formatError('E_FORMAT', what, 'two blocks that take what is left', { offset: cursor.pos });
  }
  return { type: 'b', blocks, braced };
}

function parseBlock(cursor: Cursor, depth: number): EspecBlock {
  const size = /[0-9]/.test(cursor.text[cursor.pos] ?? '') ? number(cursor, 0, 2 ** 40) : undefined;
  const unit = size === undefined ? undefined : (take(cursor, /[KM]/y) as 'K' | 'M' | undefined);
  const star = skip(cursor, '*');
  if (size === undefined && !star) throw unexpected(cursor, 'a block size or *');
  const counted = star && size !== undefined && /[0-9]/.test(cursor.text[cursor.pos] ?? '');
  const repeat = counted ? number(cursor, 1, maxChunks) : star && size !== undefined ? 'fit' : undefined;
  if (repeat !== undefined && size === 0) throw unexpected(cursor, 'a size to repeat');
  demand(cursor, '=');
  const spec = parseSpec(cursor, depth + 1);
  return { ...(size !== undefined && { size }), ...(unit && { unit }), ...(repeat && { repeat }), spec };
}

function parseParameters(cursor: Cursor): { parameters?: string } {
  if (!skip(cursor, ':')) return {};
  return { parameters: take(cursor, /\{[^{}]*\}|[0-9]+/y) ?? fail(cursor, 'parameters') };
}

/** The match of a sticky pattern at the cursor, which moves past it; undefined when there is none. */
function take(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.pos;
  const found = pattern.exec(cursor.text)?.[0];
  cursor.pos += found?.length ?? 0;
  return found;
}

function skip(cursor: Cursor, text: string): boolean {
  const isThere = cursor.text.startsWith(text, cursor.pos);
  if (isThere) cursor.pos += text.length;
  return isThere;
}

function demand(cursor: Cursor, text: string): void {
  if (!skip(cursor, text)) throw unexpected(cursor, text);
}

function number(cursor: Cursor, least: number, most: number): number {
  const offset = cursor.pos;
  const found = Number(take(cursor, /0|[1-9][0-9]*/y) ?? fail(cursor, 'a number'));
  if (found >= least && found <= most) return found;
  throw formatError('E_FORMAT_RANGE', what, 'number out of range', { offset, expected: `${least} to ${most}`, found });
}

function fail(cursor: Cursor, expected: string): never {
  throw unexpected(cursor, expected);
}

function unexpected(cursor: Cursor, expected: string): PakratError {
  const found = cursor.text.slice(cursor.pos, cursor.pos + 20) || 'the end';
  return formatError('E_FORMAT', what, 'not understood', { offset: cursor.pos, expected, found });
}
