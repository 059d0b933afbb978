import { writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { inspect } from '../../src/app/inspect.ts';
import { Session } from '../../src/app/session/session.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { armadillo, encodeArmadilloKey } from '../../src/formats/armadillo.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

async function look(...[object, options]: [Parameters<typeof inspect>[1], Parameters<typeof inspect>[2]?]) {
  const session = new Session({ store: undefined, threads: 0 });
  try {
    return await inspect(session, object, options);
  } finally {
    await session.close();
  }
}

describe('inspect reads', () => {
  test('a stream, and what never ends up to a bound', async () => {
    expect(await look(Readable.from([Buffer.from('one = '), Buffer.from('1\n')]))).toMatchObject({ format: 'config' });
    await expect(look('/dev/zero')).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
  });

  test('an object that is encrypted as a whole, with its key', async () => {
    const key = Uint8Array.from({ length: 16 }, (_, i) => i);
    const plain = Buffer.from('# Build Configuration\n\nroot = 00\n');
    const hash = md5Hex(plain);
    writeFileSync(scratch('product.ak'), encodeArmadilloKey(key));
    writeFileSync(scratch('wrong.ak'), encodeArmadilloKey(key.map((byte) => byte + 1)));
    writeFileSync(scratch(hash), armadillo(plain, { key, hash, offset: 0 }));
    expect(await look(scratch(hash))).toMatchObject({
      format: 'unknown',
      mismatch: { code: 'E_INTEGRITY', message: expect.stringContaining('--key') },
    });
    expect(await look(scratch(hash), { key: scratch('product.ak') })).toMatchObject({
      format: 'Armadillo object',
      inside: { format: 'config', md5: hash, nameIs: 'MD5' },
    });
    expect(await look(scratch(hash), { key: scratch('wrong.ak') })).toMatchObject({
      inside: { format: 'unknown', mismatch: { code: 'E_INTEGRITY' } },
    });
    writeFileSync(scratch('unnamed'), plain);
    await expect(look(scratch('unnamed'), { key: scratch('product.ak') })).rejects.toMatchObject({ code: 'E_USAGE' });
  });
});
