import { expect, test } from '@jest/globals';
import type { Build } from '../../src/builds/build.ts';
import type { FileVariant } from '../../src/builds/roots/root.ts';
import { buildSource } from '../../src/sources/build-source.ts';
import { look } from '../../src/sources/look.ts';

const count = 2000;
const nameOf = (id: number): string => `folder/${String(id).padStart(4, '0')}`;

/** A build that counts how many contents were looked up. */
function madeBuild() {
  const lookedUp = { contents: 0 };
  const root = {
    *list(matches: (name: string) => boolean): Generator<FileVariant> {
      for (let id = 0; id < count; id++) {
        const name = nameOf(id);
        const parts = [{ ckey: 'a'.repeat(32), size: undefined }];
        if (matches(name)) yield { fileDataId: id, name, localeFlags: 2, contentFlags: 0, parts };
      }
    },
  };
  const build = {
    identity: { product: 'p', name: '1' },
    install: async () => undefined,
    wholeRoot: async () => root,
    lookUp: (work: () => unknown) => work(),
    encoding: {
      findCkeys(ckeys: unknown[]) {
        lookedUp.contents += ckeys.length;
        return () => ({ ekeys: [], size: 7 });
      },
    },
  } as unknown as Build;
  return { build, lookedUp };
}

test.each([true, false])(
  'a listing of names alone (%s) has all names in their order, and looks up nothing',
  async (namesOnly) => {
    const { build, lookedUp } = madeBuild();
    const source = buildSource(build, { locale: 'enUS' });
    const rows: { name: string; size?: number | undefined }[] = [];
    const choice = { names: [], recursive: true, namesOnly, onMissing: () => undefined };
    for await (const batch of look(source, choice)) rows.push(...batch);
    expect(rows.map(({ name }) => name)).toEqual(Array.from({ length: count }, (_, id) => nameOf(id)));
    expect(lookedUp.contents).toBe(namesOnly ? 0 : count);
    expect(rows.map(({ size }) => size)).toEqual(Array.from({ length: count }, () => (namesOnly ? undefined : 7)));
  },
);
