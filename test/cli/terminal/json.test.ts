import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { toJson, writeJsonList } from '../../../src/cli/terminal/json.ts';

test('bytes become hex, big integers numbers or text, maps objects', () => {
  const value = {
    key: Uint8Array.of(0, 255),
    buffer: Buffer.from('a'),
    n: 7n,
    huge: 2n ** 60n,
    map: new Map([['a', 1n]]),
    set: new Set([1]),
    gone: undefined,
  };
  expect(JSON.parse(toJson(value))).toEqual({
    key: '00ff',
    buffer: '61',
    n: 7,
    huge: String(2n ** 60n),
    map: { a: 1 },
    set: [1],
  });
  expect(toJson(new Date(0))).toBe('"1970-01-01T00:00:00.000Z"');
});

test('characters that a terminal obeys are escaped, and mean the same', () => {
  const text = 'a\u0000\t\u001b\u007f\u009b\u200e\u061c\u2028\u202e\u2066é漢😀';
  expect(JSON.parse(toJson({ [text]: text }, 2))).toEqual({ [text]: text });
  expect(toJson(text)).toBe('"a\\u0000\\t\\u001b\\u007f\\u009b\\u200e\\u061c\\u2028\\u202e\\u2066é漢😀"');
});

async function listText(rows: Iterable<unknown>): Promise<string> {
  const stream = new PassThrough({ highWaterMark: 1024 });
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await writeJsonList(stream, rows);
  stream.end();
  await new Promise((resolve) => stream.on('end', resolve));
  return Buffer.concat(chunks).toString();
}

test('a list is written row by row and is one JSON value', async () => {
  expect(JSON.parse(await listText([]))).toEqual([]);
  expect(await listText([{ a: 1 }, { a: 2 }])).toBe('[\n{"a":1},\n{"a":2}\n]\n');
  const rows = Array.from({ length: 20_000 }, (_, i) => ({ name: `file ${i}`, size: BigInt(i) }));
  expect(JSON.parse(await listText(rows))).toHaveLength(20_000);
});
