import type { Listing } from '../../app/list.ts';
import { toHex } from '../../core/bytes.ts';
import { printableJson } from './text.ts';
import { writeEach } from './write-each.ts';

/**
 * A value as JSON text that any reader takes: bytes as hex, big integers as numbers where they fit and as text where not,
 * maps as objects, sets as lists. A terminal shows it as it is: see {@link printableJson}.
 */
export function toJson(value: unknown, indent?: number): string {
  // `value` comes after toJSON was called; what a Buffer was is only seen on its holder.
  const text = JSON.stringify(
    value,
    function (this: unknown, name: string, item: unknown) {
      const original = (this as Record<string, unknown>)[name];
      if (original instanceof Uint8Array) return toHex(original);
      if (typeof item === 'bigint') {
        return item <= Number.MAX_SAFE_INTEGER && item >= Number.MIN_SAFE_INTEGER ? Number(item) : String(item);
      }
      if (item instanceof Map) return Object.fromEntries(item);
      if (item instanceof Set) return [...item];
      return item;
    },
    indent,
  );
  return printableJson(text);
}

/** Writes rows as one JSON list, a row per line, without holding them all: for lists of millions. */
export async function writeJsonList<Row>(
  stream: NodeJS.WritableStream,
  rows: Listing<Row>,
  rowOf: (row: Row) => unknown = (row) => row,
): Promise<void> {
  let before = '[\n';
  await writeEach(stream, rows, (row) => {
    const text = before + toJson(rowOf(row));
    before = ',\n';
    return text;
  });
  stream.write(before === '[\n' ? '[]\n' : '\n]\n');
}
