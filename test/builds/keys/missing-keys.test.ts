import { expect, test } from '@jest/globals';
import type { Build } from '../../../src/builds/build.ts';
import { especKeys, findEspecLocks } from '../../../src/builds/keys/missing-keys.ts';
import { PakratError } from '../../../src/core/errors.ts';
import { encodeBlte } from '../../../src/formats/blte/encode.ts';

test('the key names of an espec, each once, however deep', () => {
  expect(especKeys('b:{1K=n,256K*=e:{0123456789ABCDEF,01020304,z}}')).toEqual(['0123456789abcdef']);
  expect(especKeys('e:{0123456789abcdef,0102030405060708,e:{FEDCBA9876543211,01020304,n}}')).toEqual([
    '0123456789abcdef',
    'fedcba9876543211',
  ]);
  expect(especKeys('b:{1=e:{0123456789abcdef,01020304,n},*=e:{0123456789ABCDEF,01020304,z}}')).toHaveLength(1);
  expect(especKeys('z:{9,mpq}')).toEqual([]);
});

const wire = 'efcdab8967452300';
const printed = '0023456789abcdef';
const spec = `e:{${wire},01020304,n}`;

/** As much of a build as the look-up needs: one object with one espec; `held` are its bytes. */
function buildWith(known: readonly string[], held?: Uint8Array): Build {
  const parts = {
    encoding: {
      especs: () => ['z', spec],
      *ekeys(wants: (index: number) => boolean) {
        if (wants(1)) yield { ekey: '00', especIndex: 1, size: held?.length ?? 0 };
      },
    },
    keys: { find: (name: string) => (known.includes(name) ? new Uint8Array(16) : undefined) },
    locate: () => ({ size: held?.length }),
    openEncoded() {
      if (held === undefined) throw new PakratError('E_OFFLINE', 'not held');
      return { read: async (at: number, size: number) => held.subarray(at, at + size), close() {} };
    },
  };
  return parts as unknown as Build;
}

test('an espec has the wire order: the name is turned round', async () => {
  expect(await findEspecLocks(buildWith([]))).toEqual(new Map([[1, [printed]]]));
});

test('a key that is known is not missing, whichever way round its name is written', async () => {
  expect(await findEspecLocks(buildWith([printed]))).toEqual(new Map());
  expect(await findEspecLocks(buildWith([wire]))).toEqual(new Map());
});

test('an object that is held says how its key is really called', async () => {
  const keys = { find: () => new Uint8Array(16) };
  const right = encodeBlte(Buffer.from('content'), spec, { keys }).bytes;
  expect(await findEspecLocks(buildWith([], right))).toEqual(new Map([[1, [printed]]]));
  const other = encodeBlte(Buffer.from('content'), `e:{${printed},01020304,n}`, { keys }).bytes;
  expect(await findEspecLocks(buildWith([], other))).toEqual(new Map([[1, [wire]]]));
  const damaged = right.slice(0, 6);
  expect(await findEspecLocks(buildWith([], damaged))).toEqual(new Map([[1, [printed]]]));
});
