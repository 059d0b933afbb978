import { expect, test } from '@jest/globals';
import { type IndexWindows, scanIndex } from '../../../../src/paks/unreal/index/rows/windows.ts';

test('an item that is larger than any is damage, and as much memory as it says is not taken', () => {
  const asked: number[] = [];
  const windows: IndexWindows = {
    size: 2 ** 32 - 1,
    isInMemory: false,
    read(start, size) {
      asked.push(size);
      return { bytes: new Uint8Array(size), start };
    },
  };
  const scan = (): number =>
    scanIndex(windows, { at: 100, what: 'index' }, (reader) => () => {
      reader.skip(2 ** 31);
      return true;
    });
  expect(scan).toThrow(
    expect.objectContaining({ code: 'E_FORMAT_RANGE', data: expect.objectContaining({ offset: 100 }) }),
  );
  expect(Math.max(...asked)).toBe(2 ** 28);
});
