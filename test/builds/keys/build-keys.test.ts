import { expect, test } from '@jest/globals';
import { buildKeyRing } from '../../../src/builds/keys/build-keys.ts';
import type { Objects } from '../../../src/builds/objects.ts';
import { type ErrorCode, PakratError } from '../../../src/core/errors.ts';

const none = { find: () => undefined };
const identity = { cdnPath: 'tpr/game', keyRing: 'a'.repeat(32) };
/** Objects of which none can be had. */
const objects = (code: ErrorCode): Objects =>
  ({ config: () => Promise.reject(new PakratError(code, code)) }) as unknown as Objects;

test.each<ErrorCode>(['E_NOT_FOUND', 'E_NETWORK_EXHAUSTED', 'E_OFFLINE', 'E_INTEGRITY'])(
  'a key ring that cannot be had (%s) locks files, not the build',
  async (code) => {
    expect((await buildKeyRing(none, identity, objects(code))).find('0123456789ABCDEF')).toBeUndefined();
  },
);

test.each<ErrorCode>(['E_STORE_FULL', 'E_STORE', 'E_ABORTED'])(
  'trouble of this machine (%s) is told: what no host was to blame for would lack for good',
  async (code) => {
    await expect(buildKeyRing(none, identity, objects(code))).rejects.toMatchObject({ code });
  },
);
