import { expect, test } from '@jest/globals';
import type { Build } from '../../src/builds/build.ts';
import { listFiles } from '../../src/builds/files.ts';
import type { FileVariant } from '../../src/builds/roots/root.ts';

const count = 300_000;

/** A build of many files, two variants each, whose names take a while to match. */
const build = {
  install: async () => undefined,
  wholeRoot: async () => ({
    *list(matches: (name: string) => boolean): Generator<FileVariant> {
      for (let id = 0; id < count; id++) {
        for (const localeFlags of [2, 0x10]) {
          const name = `file ${id}`;
          if (matches(name)) yield { fileDataId: id, name, localeFlags, contentFlags: 0, parts: [] } as FileVariant;
        }
      }
    },
  }),
} as unknown as Build;

async function names(matches: (name: string) => boolean): Promise<{ listed: string[]; turns: number }> {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const listed: string[] = [];
  for await (const batch of listFiles(build, { locale: 'enUS', matches })) {
    for (const { name } of batch) listed.push(name);
  }
  clearInterval(timer);
  return { listed, turns };
}

test('the event loop turns while no name matches, and none is listed', async () => {
  const { listed, turns } = await names((name) => Array.from(name).join('') === '');
  expect(listed).toEqual([]);
  expect(turns).toBeGreaterThan(1);
});

test('those that match are listed, each once, and no other', async () => {
  const { listed } = await names((name) => name.endsWith('000'));
  expect(listed).toEqual(Array.from({ length: count / 1000 }, (_, i) => `file ${i === 0 ? 0 : i * 1000}`).slice(1));
  expect((await names(() => true)).listed).toHaveLength(count);
});
