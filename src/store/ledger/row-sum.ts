import { md5Hex } from '../../core/hash.ts';

/** The SQL function that makes the checksum of a row out of its values; triggers call it, so that every connection that writes needs it. */
export const rowSum = {
  name: 'row_sum',
  sum(...values: unknown[]): string {
    const texts = values.map((value) => `${typeof value} ${Buffer.isBuffer(value) ? md5Hex(value) : value}`);
    return md5Hex(Buffer.from(texts.join('\0')));
  },
};
